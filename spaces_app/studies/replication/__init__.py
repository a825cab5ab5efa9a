"""Repeated copies, and metrics that need no original."""
