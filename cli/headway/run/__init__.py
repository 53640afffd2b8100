"""`headway run`, and what `headway profile` and `headway tune` do with it."""
