"""Degraded pictures restored, against the clean ones."""
