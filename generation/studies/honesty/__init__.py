"""Honesty: does an editor return what it remembers, instead of undoing its edit?"""
