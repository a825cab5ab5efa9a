"""What the statistics are computed from and written with."""
