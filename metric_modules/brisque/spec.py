SPEC = {
    "name": "brisque",
    "title": "BRISQUE",
    "study": "replication",
    "order": 91,
    "optional": True,
    "needs": "parameters, which `convergebench weights brisque` fetches",
    "sees": "blur, noise and compression in a picture on its own",
    "misses": "a clean picture of something else; the noise of some editors improves it",
    "columns": [
        {
            "name": "brisque",
            "meaning": "visible damage without a reference, learned from ratings: about 0 to 100, lower is better",
            "direction": "lower",
            "show": "number",
        },
    ],
    "reasons": {
        "too_small_for_statistics": [
            "nobody",
            "the picture is smaller than BRISQUE needs: {} pixels a side",
        ],
        "too_flat": ["nobody", "the picture has too little contrast to be scored"],
    },
}
