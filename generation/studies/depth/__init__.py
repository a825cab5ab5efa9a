"""Several edits in a row, undone in reverse order."""
