"""What the clients of vendors share: wire formats, prices, sizes, limits and keys."""
