"""Additions: is each thing there that was added, and does it stay?"""
