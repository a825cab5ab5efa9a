"""The spec of the normalised score gap, which is computed from numbers and so has no column in the scores."""

SPEC = {
    "name": "nr_gap",
    "title": "No-reference scores",
    "kind": "statistic",
    "study": "replication",
    "order": 150,
    "sees": "noise and blur in a picture on its own",
    "misses": "a clean picture of something else: they never see the original",
}
