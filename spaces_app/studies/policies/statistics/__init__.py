"""Tables of this study; each file is one statistic."""
