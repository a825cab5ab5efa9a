"""Restoration: pictures that any method restored, imported as chains of one call."""
