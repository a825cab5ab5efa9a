"""Scores that others published: the table `published`, and how a foreign table is imported into it."""
