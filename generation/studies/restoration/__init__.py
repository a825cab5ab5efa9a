"""Restoration: how close does an editor bring a degraded picture to the clean one?"""
