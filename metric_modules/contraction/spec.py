"""What the house knows of contraction; it computes from numbers, so the scores have no column of it."""

SPEC = {
    "name": "contraction",
    "title": "Contraction",
    "kind": "statistic",
    "order": 130,
    "sees": "whether the pictures after each undo settle, wander or drift",
    "misses": "how good the picture is in which they settle",
}
