SPEC = {
    "name": "ssim",
    "title": "SSIM",
    "order": 20,
    "sees": "lost and invented structure: edges, texture, blur",
    "misses": "colour casts, and small things gone from a large picture",
    "columns": [
        {
            "name": "ssim",
            "meaning": "structural similarity, up to 1, higher is closer",
            "aspect": "structure",
            "direction": "higher",
            "low": -1.0,
            "high": 1.0,
            "ceiling": 1.0,
            "show": "curve",
            "floor": True,
            "headline": "quality",
        },
    ],
    "reasons": {
        "smaller_than_window": ["nobody", "the picture is smaller than the window of SSIM"],
    },
}
