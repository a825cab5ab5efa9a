"""Whether editors edit and forget honestly: planted marks, the recall audit, what an edit covered."""
