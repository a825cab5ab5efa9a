SPEC = {
    "name": "text_fidelity",
    "title": "Text fidelity",
    "order": 61,
    "optional": True,
    "needs": "pip install 'convergebench[senses]'",
    "sees": "a sign, a label or a page that reads otherwise",
    "misses": "pictures without text; another font, colour or place of the same words",
    "columns": [
        {
            "name": "text_error",
            "title": "Text error",
            "meaning": "characters to change, add or drop until the answer's text reads as the reference's, by the "
            "reference's length: 0 reads the same",
            "aspect": "text",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "show": "number",
        },
    ],
    "reasons": {
        "no_text": ["not applicable", "no text was read in the reference"],
    },
}
