SPEC = {
    "name": "lpips_vgg",
    "title": "LPIPS (VGG)",
    "order": 31,
    "optional": True,
    "needs": "the weights of LPIPS, which `convergebench weights lpips` fetches",
    "sees": "what LPIPS sees, by the network that many papers report",
    "misses": "what LPIPS misses; it takes about eight times as long",
    "columns": [
        {
            "name": "lpips_vgg",
            "meaning": "learned perceptual distance by VGG16 in place of AlexNet, lower is closer",
            "aspect": "appearance",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "show": "number",
            "bfloat16_error": 2e-3,
        },
    ],
}
