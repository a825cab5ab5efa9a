"""What the scoring engine, the dataset's card, the report and the Space know of PSNR and RMSE."""

SPEC = {
    "name": "psnr",
    "title": "PSNR and RMSE",
    "kind": "picture",
    "order": 10,
    "sees": "every change of a pixel, grain and tint first",
    "misses": "what it means: a shift by one pixel costs as much as a lost face",
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
    ],
}
