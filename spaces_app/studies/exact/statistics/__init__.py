"""The statistics of exact edits."""
