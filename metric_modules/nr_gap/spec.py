"""What the house knows of the normalised score gap; it computes from numbers, so the scores have no column of it."""

SPEC = {
    "name": "nr_gap",
    "title": "No-reference scores",
    "kind": "statistic",
    "study": "replication",
    "order": 150,
    "sees": "noise and blur in a picture on its own",
    "misses": "a clean picture of something else: they never see the original",
}
