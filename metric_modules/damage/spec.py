SPEC = {
    "name": "damage",
    "title": "Damage",
    "order": 55,
    "after": ["lpips", "registration"],
    "needs": "the weights of LPIPS, which `convergebench weights lpips` fetches",
    "sees": "one area that no longer matches the original: a face repainted, a lamp gone, a pattern melted",
    "misses": "colour alone, and what covers much less than a hundredth of the picture",
    "columns": [
        {
            "name": "damage",
            "meaning": "LPIPS of the worst of 10 x 10 tiles, on pictures with a short side of 256",
            "aspect": "the worst part",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "show": "curve",
            "floor": True,
            "headline": "quality",
        },
        {
            "name": "damage_outline",
            "type": "string",
            "title": "Outline of the damage",
            "meaning": "JSON: polygons around the tiles in which a part is lost, from 0 to 1",
        },
    ],
    "reasons": {"no_damage": ["not applicable", "no tile differs by enough to be a lost part"]},
}
