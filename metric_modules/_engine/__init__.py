"""The scoring engine."""
