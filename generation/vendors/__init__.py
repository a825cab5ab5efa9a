"""What the clients of vendors share: HTTP, prices and picture sizes."""
