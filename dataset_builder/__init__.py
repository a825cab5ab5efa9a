"""Turns chains into the dataset folder that is also the Hub repository."""
