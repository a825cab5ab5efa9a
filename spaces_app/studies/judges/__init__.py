"""Answers of judges, which are vision models, about edits."""
