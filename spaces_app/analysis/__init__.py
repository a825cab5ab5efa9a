"""What the statistics are computed from and written with: cases, outcomes, floors, comparisons, tables."""
