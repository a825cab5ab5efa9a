SPEC = {
    "name": "face_identity",
    "title": "Face identity",
    "order": 60,
    "optional": True,
    "needs": "pip install 'convergebench[senses]' and `convergebench weights face_identity`",
    "sees": "another person, though the face is sharp and well made",
    "misses": "hair, ears and everything outside the face; a stranger who looks alike",
    "columns": [
        {
            "name": "face_distance",
            "title": "Face distance",
            "meaning": "distance of the face descriptors, of the person that changed most; above 0.6 it is "
            "another person by the network's authors",
            "aspect": "person",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "show": "number",
        },
    ],
    "reasons": {
        "no_face": ["not applicable", "no face was found in the reference"],
        "face_gone": ["nobody", "no face was found in the answer"],
    },
}
