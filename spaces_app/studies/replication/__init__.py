"""Copies again and again, and metrics that need no original to look at."""
