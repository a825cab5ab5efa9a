"""Judges: vision and language models that answer questions about a dataset's steps."""
