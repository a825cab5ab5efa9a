"""The spec of PSNR and RMSE, read by the scoring engine, the card, the report and the Space."""

SPEC = {
    "name": "psnr",
    "title": "PSNR and RMSE",
    "kind": "picture",
    "order": 10,
    "sees": "every change of a pixel, grain and tint first",
    "misses": "what a change means: a shift by one pixel costs as much as a lost face",
    "columns": [
        {
            "name": "psnr",
            "title": "PSNR",
            "meaning": "peak signal-to-noise ratio in dB, higher is closer; has a ceiling, never inf",
            "unit": "dB",
            "direction": "higher",
            "low": 0.0,
            "ceiling": 100.0,
            "show": "curve",
        },
        {
            "name": "rmse",
            "title": "RMSE",
            "meaning": "root mean square error of the pixels in grey levels, 0 to 255, lower is closer",
            "aspect": "pixels",
            "unit": "grey levels",
            "direction": "lower",
            "low": 0.0,
            "high": 255.0,
            "ceiling": 0.0,
            "show": "curve",
            "floor": True,
            "headline": "quality",
        },
        {
            "name": "rmse_previous",
            "title": "RMSE to the return before",
            "meaning": "rmse between a return and the return before it (the input, in round 1)",
            "unit": "grey levels",
            "direction": "lower",
            "ceiling": 0.0,
        },
    ],
}
