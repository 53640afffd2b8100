# SPDX-License-Identifier: BSD-3-Clause
"""The record: its fields (spec/record.toml), and how they are read."""
