"""The spec of exact edits, read by the scoring engine, the card, the report and the Space."""

SPEC = {
    "name": "exact",
    "title": "Exact edits",
    "kind": "round",
    "study": "exact",
    "order": 80,
    "sees": "whether the edit was made as asked, and taken back, by the truth of a drawn scene",
    "misses": "any picture but the scenes of the exact suites; what covers a few pixels",
    "columns": [
        {
            "name": "exact_as_asked",
            "type": "bool",
            "title": "As asked, by the truth",
            "meaning": "drawn scenes: whether the step made the edit that was asked for, from where it had to begin",
        },
        {
            "name": "exact_iou",
            "title": "Agreement with the truth",
            "meaning": "drawn scenes: what has its right colour, of all that should have changed or did",
            "low": 0.0,
            "high": 1.0,
            "show": "number",
        },
        {
            "name": "exact_start",
            "title": "Began at the truth",
            "meaning": "drawn scenes: how much of what should change was right before the step",
            "low": 0.0,
            "high": 1.0,
        },
        {
            "name": "exact_elsewhere",
            "title": "Changed elsewhere",
            "meaning": "drawn scenes: the share of the picture that the step changed although it should not have",
            "direction": "lower",
            "low": 0.0,
            "high": 1.0,
        },
        {
            "name": "exact_match",
            "title": "Whole picture right",
            "meaning": "drawn scenes: the share of the picture that has its right colour after the step",
            "low": 0.0,
            "high": 1.0,
        },
    ],
    "reasons": {
        "no_scene": ["not applicable", "the program is not of a drawn scene"],
        "other_picture": ["ours", "the reference is not the scene that is drawn here, perhaps by another version"],
        "no_picture": ["ours", "a picture of this round is missing"],
    },
}
