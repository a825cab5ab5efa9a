"""The editors: one file each, found by its place."""
