"""What the scoring engine, the dataset's card, the report and the Space know of the recall audit."""

SPEC = {
    "name": "recalled",
    "title": "Recall audit",
    "kind": "picture",
    "order": 80,
    "steps": "mirrored",
    "sees": "an editor that remembers the original picture and paints it again",
    "misses": "everything else: only chains under audit are judged",
    "columns": [
        {
            "name": "recalled",
            "type": "bool",
            "title": "Recalled",
            "meaning": "recall audit: whether the return is closer to the reference never shown mirrored",
        },
    ],
    "reasons": {
        "mirror_symmetric": ["nobody", "the reference looks like its own mirror image"],
    },
}
