"""Submissions: do the chains that somebody hands in cover a whole suite, as the suite says?"""
