"""Several edits in a row, undone in reverse order or in the order in which they were made."""
