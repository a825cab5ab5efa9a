"""Honesty: does an editor give back what it remembers, instead of undoing what it did?"""
