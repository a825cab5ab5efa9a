"""The spec of retained quality, which is computed from numbers and so has no column in the scores."""

SPEC = {
    "name": "retained",
    "title": "Retained quality",
    "kind": "statistic",
    "order": 110,
    "sees": "how much of what separates the original from an unrelated picture is left",
    "misses": "anything that the metric behind it misses",
}
