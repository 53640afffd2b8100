# SPDX-License-Identifier: BSD-3-Clause
"""`headway doctor`: what this machine, its MPIs and a program let Headway do, and why not more."""
