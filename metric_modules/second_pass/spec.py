SPEC = {
    "name": "second_pass",
    "title": "Further passes",
    "kind": "round",
    "study": "restoration",
    "order": 87,
    "optional": True,
    "rounds": 10,
    "sees": "whether asking again undoes what the first answer changed, or goes on in the same direction",
    "misses": "whether either is for the better: that is for the metrics that see the clean picture",
    "columns": [
        {
            "name": "pass_direction",
            "title": "Direction of a further pass",
            "meaning": "cosine between what this pass changed and what the first one did: 1 goes on, -1 undoes it",
            "low": -1.0,
            "high": 1.0,
            "show": "number",
        },
        {
            "name": "pass_size",
            "title": "Size of a further pass",
            "meaning": "how much this pass changed, as a share of what the first one did (RMSE at 512 pixels)",
            "low": 0.0,
            "show": "number",
        },
    ],
    "reasons": {
        "first_pass": ["not applicable", "there is no pass before this one"],
        "several_instructions": ["not applicable", "a round has more than one instruction"],
        "pass_unchanged": ["nobody", "one of the two passes changed nothing"],
        "pass_missing": ["ours", "the picture of an earlier pass is missing"],
    },
}
