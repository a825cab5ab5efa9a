"""What each metric sees: a tab."""
