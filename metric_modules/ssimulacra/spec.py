SPEC = {
    "name": "ssimulacra2",
    "title": "SSIMULACRA2",
    "order": 62,
    "optional": True,
    "needs": "pip install 'convergebench[senses]'",
    "sees": "what compression does: blur, blocks, ringing, banding",
    "misses": "what a change means; it falls far below 0 where something was redrawn",
    "columns": [
        {
            "name": "ssimulacra2",
            "meaning": "visible difference: 100 is identical, 90 visually lossless, 70 high, 50 medium, 30 low quality",
            "aspect": "visible difference",
            "direction": "higher",
            "high": 100.0,
            "ceiling": 100.0,
            "show": "number",
        },
    ],
}
