"""The sizes at which editors are stable: a picture of such a size comes back in that size."""

from math import gcd

Size = tuple[int, int]

KONTEXT: tuple[Size, ...] = (
    (672, 1568),
    (688, 1504),
    (720, 1456),
    (752, 1392),
    (800, 1328),
    (832, 1248),
    (880, 1184),
    (944, 1104),
    (1024, 1024),
    (1104, 944),
    (1184, 880),
    (1248, 832),
    (1328, 800),
    (1392, 752),
    (1456, 720),
    (1504, 688),
    (1568, 672),
)
MEGAPIXEL = tuple(size for size in KONTEXT if size[0] * size[1] <= 1024 * 1024)  # what FLUX.2 bills as one megapixel

GEMINI_2_5: dict[str, Size] = {
    "1:1": (1024, 1024),
    "2:3": (832, 1248),
    "3:2": (1248, 832),
    "3:4": (864, 1184),
    "4:3": (1184, 864),
    "9:16": (768, 1344),
    "16:9": (1344, 768),
    "21:9": (1536, 672),
}
GEMINI_3: dict[str, Size] = {  # at 1K; 2K and 4K are twice and four times that
    "1:1": (1024, 1024),
    "2:3": (848, 1264),
    "3:2": (1264, 848),
    "3:4": (896, 1200),
    "4:3": (1200, 896),
    "9:16": (768, 1376),
    "16:9": (1376, 768),
    "21:9": (1584, 672),
}

OPENAI: tuple[Size, ...] = ((1024, 1024), (1536, 1024), (1024, 1536))

XAI: dict[str, Size] = {  # at 1k; the shapes are documented, their pixels are not
    "1:1": (1024, 1024),
    "4:3": (1152, 864),
    "3:4": (864, 1152),
    "3:2": (1248, 832),
    "2:3": (832, 1248),
    "16:9": (1280, 720),
    "9:16": (720, 1280),
}

SEEDREAM: dict[str, tuple[Size, ...]] = {
    "1K": ((1024, 1024), (1152, 864), (864, 1152), (1280, 720), (720, 1280), (1248, 832), (832, 1248), (1512, 648)),
    "2K": (
        (2048, 2048),
        (2304, 1728),
        (1728, 2304),
        (2560, 1440),
        (1440, 2560),
        (2496, 1664),
        (1664, 2496),
        (3024, 1296),
    ),
}
SEEDREAM["4K"] = tuple((2 * width, 2 * height) for width, height in SEEDREAM["2K"])

# About a megapixel in multiples of 32 that the model's own size rule maps to themselves.
QWEN: tuple[Size, ...] = (
    (1024, 1024),
    (1184, 896),
    (896, 1184),
    (1248, 832),
    (832, 1248),
    (1376, 768),
    (768, 1376),
    (1568, 672),
    (672, 1568),
)


def ratio(size: Size) -> str:
    """3:2 for 1248x832."""
    divisor = gcd(*size)
    return f"{size[0] // divisor}:{size[1] // divisor}"


def nearest(size: Size, sizes: tuple[Size, ...]) -> Size:
    """The size of the most similar shape."""
    return min(sizes, key=lambda other: abs(size[0] * other[1] - other[0] * size[1]) / (size[1] * other[1]))


# The same with LongCat's rule, which rounds up to multiples of 16.
LONGCAT: tuple[Size, ...] = tuple({(1248, 832): (1264, 848), (832, 1248): (848, 1264)}.get(size, size) for size in QWEN)

PIX2PIX: tuple[Size, ...] = (  # multiples of 8 about the size the model was trained at
    (512, 512),
    (576, 512),
    (512, 576),
    (680, 512),
    (512, 680),
    (768, 512),
    (512, 768),
    (912, 512),
    (512, 912),
)


KANDINSKY: tuple[Size, ...] = (
    (1024, 1024),
    (640, 1408),
    (1408, 640),
    (768, 1280),
    (1280, 768),
    (896, 1152),
    (1152, 896),
)
JOYIMAGE: tuple[Size, ...] = (
    (1792, 512), (1856, 512), (1920, 512), (1984, 512), (2048, 512), (1600, 576), (1664, 576), (1728, 576),
    (1792, 576), (1472, 640), (1536, 640), (1600, 640), (1344, 704), (1408, 704), (1472, 704), (1216, 768),
    (1280, 768), (1344, 768), (1152, 832), (1216, 832), (1088, 896), (1152, 896), (1024, 960), (1088, 960),
    (960, 1024), (1024, 1024), (896, 1088), (960, 1088), (832, 1152), (896, 1152), (768, 1216), (832, 1216),
    (768, 1280), (704, 1344), (768, 1344), (704, 1408), (640, 1472), (704, 1472), (640, 1536), (576, 1600),
    (640, 1600), (576, 1664), (576, 1728), (512, 1792), (576, 1792), (512, 1856), (512, 1920), (512, 1984),
    (512, 2048),
)  # fmt: skip


def of_pipeline(name: str) -> tuple[Size, ...]:
    """By the name of a pipeline class or of a repository, what it takes and gives without a change of size."""
    families = {"Kontext": KONTEXT, "Flux2": MEGAPIXEL, "FLUX.2": MEGAPIXEL, "Qwen": QWEN, "LongCat": LONGCAT}
    families |= {"Pix2Pix": PIX2PIX, "pix2pix": PIX2PIX, "Kandinsky": KANDINSKY, "Joy": JOYIMAGE}
    # Made for about a megapixel, in multiples of 16 or 32.
    families |= dict.fromkeys(("ZImage", "Z-Image", "Glm", "GLM", "DreamLite", "Fibo", "ChronoEdit"), QWEN)
    return next((sizes for family, sizes in families.items() if family in name), ())


def of_family(name: str) -> tuple[Size, ...]:
    """The sizes of a family that models.toml names; none means any."""
    families = {"megapixel": MEGAPIXEL, "kontext": KONTEXT, "qwen": QWEN, "openai": OPENAI, "": ()}
    return families[name] if name != "gemini" else tuple(GEMINI_3.values())
