"""Imports what was made elsewhere: chains in known layouts, and published tables of scores."""
