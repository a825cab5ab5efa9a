SPEC = {
    "name": "contraction",
    "title": "Contraction",
    "kind": "statistic",
    "study": "contraction",
    "order": 130,
    "sees": "whether the pictures after each undo settle, wander or drift",
    "misses": "how good the picture is in which they settle",
}
