"""Submissions: a scored dataset that describes itself by hashes, and the checks that it has to pass."""
