"""Publishes the dataset, the metrics and the Space to the Hub."""
