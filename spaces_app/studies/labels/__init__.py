"""Answers of people who looked at the pictures."""
