"""What the house knows of retained quality; it computes from numbers, so the scores have no column of it."""

SPEC = {
    "name": "retained",
    "title": "Retained quality",
    "kind": "statistic",
    "order": 110,
    "sees": "how much of what separates the original from an unrelated picture is left",
    "misses": "anything that the metric behind it misses",
}
