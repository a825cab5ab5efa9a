"""Gives every call of a chain the same seed."""

settings = {"seed": "fixed"}
