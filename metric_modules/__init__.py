"""Scores: one folder per metric, and the engine that runs them all in one pass."""
