SPEC = {
    "name": "niqe",
    "title": "NIQE",
    "study": "replication",
    "order": 92,
    "optional": True,
    "needs": "parameters, which `convergebench weights niqe` fetches",
    "sees": "blur, noise and blocks in a picture on its own",
    "misses": "a clean picture of something else, and any damage that looks natural",
    "columns": [
        {
            "name": "niqe",
            "meaning": "naturalness without a reference: distance from undamaged photographs, lower is better",
            "direction": "lower",
            "low": 0.0,
            "show": "number",
        },
    ],
    "reasons": {
        "too_small_for_patches": ["nobody", "the picture is smaller than two patches of NIQE: {} pixels"],
        "too_flat": ["nobody", "the picture has too little contrast to be scored"],
    },
}
