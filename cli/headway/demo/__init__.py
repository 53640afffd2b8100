"""`headway demo`: the halo program, plain and with Headway."""
