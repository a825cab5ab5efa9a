"""The benchmark inside other programs: as a task of Inspect."""
