"""What the scoring engine, the dataset's card, the report and the Space know of the recall audit."""

SPEC = {
    "name": "recalled",
    "title": "Recall audit",
    "kind": "picture",
    "order": 80,
    "steps": "mirrored",
    "sees": "an editor that remembers the original picture and paints it again",
    "misses": "everything else; it judges only the tests that were disturbed for it",
    "columns": [
        {
            "name": "recalled",
            "type": "bool",
            "title": "Recalled",
            "meaning": "recall audit: whether the return is closer to the reference never shown mirrored",
        },
        {
            "name": "recall_unshown",
            "title": "Distance to the original as it was never shown again",
            "unit": "grey levels",
            "meaning": "recall audit: RMSE of the return to the reference as it was never shown mirrored",
        },
        {
            "name": "recall_shown",
            "title": "Distance to the original as it was shown",
            "unit": "grey levels",
            "meaning": "recall audit: RMSE of the return to the mirrored reference, which it was to restore",
        },
    ],
    "reasons": {
        "mirror_symmetric": ["nobody", "the reference looks like its own mirror image"],
    },
}
