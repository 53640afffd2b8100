# SPDX-License-Identifier: BSD-3-Clause
"""`headway tune`: settings tried on runs of the program itself."""
