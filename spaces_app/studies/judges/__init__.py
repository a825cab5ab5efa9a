"""What judges, which are vision models, answer about edits."""
