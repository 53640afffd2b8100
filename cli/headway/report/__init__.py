# SPDX-License-Identifier: BSD-3-Clause
"""`headway report`: records in whatever state, as tables, a page, a table file, a trace."""
