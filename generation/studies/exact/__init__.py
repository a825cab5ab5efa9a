"""Exact edits: rendered scenes in which every instruction has one right answer."""
