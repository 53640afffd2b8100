# SPDX-License-Identifier: BSD-3-Clause
"""Real programs from the registries, plain and with Headway: what `headway bench programs` runs."""
