"""What the house knows of stability; it computes from numbers, so the scores have no column of it."""

SPEC = {
    "name": "stability",
    "title": "Stability",
    "kind": "statistic",
    "study": "restoration",
    "order": 140,
    "sees": "whether repeated runs of one test differ by more than chance",
    "misses": "a loss that all runs share",
}
