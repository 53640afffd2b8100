"""`headway tune`: settings tried on runs of the program itself."""
