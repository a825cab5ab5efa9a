"""The front door: one command, a verb per file."""
