SPEC = {
    "name": "dino",
    "title": "DINOv2 similarity",
    "order": 64,
    "optional": True,
    "needs": "weights of DINOv2, from the Hub or its cache",
    "sees": "another object of the same kind, which CLIP's words do not tell apart",
    "misses": "small parts, and fine damage: it looks at 224 x 224 pixels",
    "columns": [
        {
            "name": "dino",
            "title": "DINOv2",
            "meaning": "cosine of the two DINOv2 embeddings, up to 1, higher is closer",
            "aspect": "subject",
            "direction": "higher",
            "low": -1.0,
            "high": 1.0,
            "ceiling": 1.0,
            "floor": True,
            "show": "number",
        },
    ],
}
