"""Exact edits in the report: how often editors make an edit of a drawn scene as asked, and take it back."""
