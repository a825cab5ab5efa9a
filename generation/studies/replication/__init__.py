"""Replication: what do a hundred exact copies make of a picture?"""
