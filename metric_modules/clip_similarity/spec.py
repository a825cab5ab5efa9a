SPEC = {
    "name": "clip",
    "title": "CLIP similarity",
    "order": 40,
    "needs": "weights of a CLIP model, from the Hub or its cache",
    "sees": "another subject, another scene",
    "misses": "nearly all slow decay: it stays high even when the picture is badly damaged",
    "columns": [
        {
            "name": "clip",
            "title": "CLIP",
            "meaning": "cosine of the two CLIP image embeddings, up to 1, higher is closer",
            "aspect": "meaning",
            "direction": "higher",
            "low": -1.0,
            "high": 1.0,
            "ceiling": 1.0,
            "show": "curve",
            "floor": True,
            "headline": "meaning",
            "bfloat16_error": 2e-3,
        },
    ],
}
