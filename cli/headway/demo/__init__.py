# SPDX-License-Identifier: BSD-3-Clause
"""`headway demo`: the halo program, plain and with Headway."""
