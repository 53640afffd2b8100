# SPDX-License-Identifier: BSD-3-Clause
"""`headway run`, and what `headway profile` and `headway tune` do with it."""
