"""Imports chains that were made elsewhere."""
