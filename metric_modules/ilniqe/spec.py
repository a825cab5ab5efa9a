"""The spec of IL-NIQE, read by the scoring engine, the card, the report and the Space."""

SPEC = {
    "name": "ilniqe",
    "title": "ILNIQE",
    "kind": "picture",
    "study": "replication",
    "order": 93,
    "optional": True,
    "needs": "a template, which `convergebench weights ilniqe` fetches",
    "sees": "blur, noise and wrong colours in a picture on its own",
    "misses": "a clean picture of something else, and any damage that looks natural",
    "columns": [
        {
            "name": "ilniqe",
            "title": "ILNIQE",
            "meaning": "naturalness of contrast, edges and colours without a reference, lower is better",
            "direction": "lower",
            "low": 0.0,
            "show": "number",
        },
    ],
    "reasons": {
        "too_small_for_template": ["nobody", "the picture is smaller than a patch of ILNIQE: {} pixels a side"],
        "too_flat": ["nobody", "the picture is too flat for statistics of its contrast"],
    },
}
