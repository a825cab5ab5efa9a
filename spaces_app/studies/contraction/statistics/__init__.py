"""Tables of this study; each file is one statistic, found by its place (see spaces_app/statistics)."""
