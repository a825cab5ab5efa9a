"""Loopback servers that speak the vendors' wire formats, each with its own assertions on what a client sends."""
