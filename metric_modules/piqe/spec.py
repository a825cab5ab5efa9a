SPEC = {
    "name": "piqe",
    "title": "PIQE",
    "study": "replication",
    "order": 93,
    "optional": True,
    "sees": "a codec's blocks, blur and noise, in a picture on its own",
    "misses": "a clean picture of something else; a picture without texture gets the worst score",
    "columns": [
        {
            "name": "piqe",
            "meaning": "impaired and noisy blocks, without a reference: 0 to 100, lower is better",
            "direction": "lower",
            "low": 0.0,
            "high": 100.0,
            "show": "number",
        },
    ],
}
