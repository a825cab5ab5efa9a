SPEC = {
    "name": "halflife",
    "title": "Half-life",
    "kind": "statistic",
    "order": 120,
    "sees": "how many rounds a test stays above a threshold",
    "misses": "how steep the loss is before and after the threshold",
}
