SPEC = {
    "name": "lpips",
    "title": "LPIPS",
    "order": 30,
    "needs": "weights, which `convergebench weights lpips` fetches",
    "sees": "what looks different: texture, smear, sharpening",
    "misses": "slow tints; damage to one small area of an untouched picture",
    "columns": [
        {
            "name": "lpips",
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
    ],
    "reasons": {
        "smaller_than_network": ["nobody", "the picture is smaller than the pixels that LPIPS needs: {}"],
    },
}
