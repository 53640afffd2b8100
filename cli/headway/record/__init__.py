"""The record: its fields (spec/record.toml), and how they are read."""
