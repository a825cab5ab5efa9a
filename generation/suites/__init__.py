"""Suites as data: which sources, programs, rounds and runs."""
