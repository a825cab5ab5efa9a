"""Submissions: scored datasets that describe themselves by hashes, and the checks that they must pass."""
