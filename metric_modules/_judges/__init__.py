"""Judges: vision and language models that are asked about the steps of a dataset, and what they answered."""
