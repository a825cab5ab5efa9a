"""What the folders need to be modules of `evaluate`; scores are computed without it."""
