"""What finds MPI libraries and programs of them, and starts jobs."""
