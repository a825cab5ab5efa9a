"""The front door: one command, a verb per file; the folders hold what a round trip does not need."""
