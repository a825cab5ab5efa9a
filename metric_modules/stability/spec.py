"""The spec of stability, which is computed from numbers and so has no column in the scores."""

SPEC = {
    "name": "stability",
    "title": "Stability",
    "kind": "statistic",
    "study": "restoration",
    "order": 140,
    "sees": "whether repeated runs of one test differ by more than chance",
    "misses": "a loss that all runs share",
}
