"""Restoration: how near does an editor bring a degraded picture to the clean one?"""
