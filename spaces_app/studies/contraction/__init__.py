"""Whether a round contracts, and how the error grows."""
