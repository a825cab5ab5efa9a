"""Policies around editors: what they gain on the same cases, and what they break."""
