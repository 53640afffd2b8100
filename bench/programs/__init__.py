"""Real programs from the registries, plain and with Headway: what `--suite programs` runs."""
