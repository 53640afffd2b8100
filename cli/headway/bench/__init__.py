"""Drives the benchmark programs: suites, launches, what follows from them, tables and plots."""
