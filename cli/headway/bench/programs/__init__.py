"""Real programs from the registries, plain and with Headway: what `headway bench programs` runs."""
