"""Tables of scores that others published."""
