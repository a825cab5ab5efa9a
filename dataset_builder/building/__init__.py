"""Builds the dataset folder from chain stores, and writes its card."""
