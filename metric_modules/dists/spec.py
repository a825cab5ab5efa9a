SPEC = {
    "name": "dists",
    "title": "DISTS",
    "order": 63,
    "optional": True,
    "needs": "`convergebench weights lpips` and `convergebench weights dists`",
    "sees": "lost structure, while another sample of the same texture passes",
    "misses": "where in the picture it changed: small parts drown in the means",
    "columns": [
        {
            "name": "dists",
            "meaning": "distance of structure and texture in VGG16's features, from 0, lower is closer",
            "aspect": "texture",
            "direction": "lower",
            "low": 0.0,
            "high": 1.0,
            "ceiling": 0.0,
            "floor": True,
            "show": "number",
        },
    ],
}
