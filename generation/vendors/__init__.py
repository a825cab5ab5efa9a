"""What the clients of vendors share: HTTP, prices, picture sizes and keys."""
