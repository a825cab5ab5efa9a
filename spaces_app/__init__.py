"""What a reader sees: the report, its figures and the Space."""
