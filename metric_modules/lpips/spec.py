"""The spec of LPIPS, read by the scoring engine, the card, the report and the Space."""

SPEC = {
    "name": "lpips",
    "title": "LPIPS",
    "kind": "picture",
    "order": 30,
    "needs": "weights, which `convergebench weights lpips` fetches",
    "sees": "what looks different: texture, smear, sharpening",
    "misses": "slow tints; where the damage is, which its worst tile tells",
    "columns": [
        {
            "name": "lpips",
            "title": "LPIPS",
            "meaning": "learned perceptual distance, lower is closer",
            "aspect": "appearance",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "show": "curve",
            "floor": True,
            "headline": "quality",
            "bfloat16_error": 2e-3,
        },
        {
            "name": "lpips_worst_tile",
            "title": "LPIPS, worst tile",
            "meaning": "largest mean of the 8x8 LPIPS map: the part that changed most",
            "aspect": "the worst part",
            "direction": "lower",
            "ceiling": 0.0,
            "show": "number",
            "floor_of": "lpips",
            "bfloat16_error": 2e-2,
            "sees": "one area that no longer matches the original",
            "misses": "damage spread thinly over everything",
        },
    ],
    "reasons": {
        "smaller_than_network": ["nobody", "the picture is smaller than the pixels that LPIPS needs: {}"],
    },
}
