# SPDX-License-Identifier: BSD-3-Clause
"""Drives the benchmark programs: suites, launches, what follows from them, tables and plots."""
