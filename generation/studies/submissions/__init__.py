"""Submissions: do the submitted chains cover a whole suite?"""
