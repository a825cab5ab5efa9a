"""Somebody's own Python function as an editor."""
