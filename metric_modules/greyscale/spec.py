SPEC = {
    "name": "greyscale",
    "title": "Greyscale",
    "study": "replication",
    "order": 96,
    "optional": True,
    "sees": "colour that is left where a picture should be grey",
    "misses": "everything but colour",
    "columns": [
        {
            "name": "coloured_share",
            "title": "Pixels with colour",
            "meaning": "share of the pixels whose channels are not equal: 0 where a picture is strictly grey",
            "low": 0.0,
            "high": 1.0,
            "show": "number",
        },
        {
            "name": "colour_left",
            "title": "Colour",
            "meaning": "mean difference of the largest and the smallest channel in grey levels",
            "low": 0.0,
            "high": 255.0,
            "show": "number",
        },
    ],
}
