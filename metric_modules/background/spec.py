"""The spec of the background of additions, read by the scoring engine, the card, the report and the Space."""

SPEC = {
    "name": "background",
    "title": "Background of additions",
    "kind": "round",
    "study": "additions",
    "order": 85,
    "optional": True,
    "rounds": 1000,
    "needs": "the weights of LPIPS, which `convergebench weights lpips` fetches",
    "sees": "wear of all that no addition was drawn on",
    "misses": "what changed in the places of the additions; where most of the picture is covered, everything",
    "columns": [
        {
            "name": "background_lpips",
            "title": "LPIPS outside the additions",
            "meaning": "LPIPS to the reference at 512 pixels, without all that was added so far",
            "aspect": "the background",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "show": "number",
        },
        {
            "name": "background_share",
            "title": "Background left",
            "meaning": "the share of the picture that no addition so far covers",
            "low": 0.0,
            "high": 1.0,
        },
    ],
    "reasons": {
        "not_an_addition": ["not applicable", "the program takes its changes back"],
        "covered": ["nobody", "the additions cover too much of the picture: {} is left"],
        "step_missing": ["ours", "the picture of an earlier step is missing"],
    },
}
