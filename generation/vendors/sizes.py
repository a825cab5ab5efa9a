"""The sizes at which editors are stable, from sizes.toml: a picture of such a size is returned in that size."""

import tomllib
from collections.abc import Sequence
from math import gcd
from pathlib import Path

Size = tuple[int, int]


def _pairs(rows: Sequence[Sequence[int]]) -> tuple[Size, ...]:
    return tuple((width, height) for width, height in rows)


_TABLES = tomllib.loads(Path(__file__).with_name("sizes.toml").read_text(encoding="utf-8"))
KONTEXT, OPENAI, QWEN = (_pairs(_TABLES[name]) for name in ("kontext", "openai", "qwen"))
MEGAPIXEL = tuple(size for size in KONTEXT if size[0] * size[1] <= 1024 * 1024)  # what FLUX.2 bills as one megapixel
GEMINI_2_5, GEMINI_3, XAI = (
    dict(zip(_TABLES[name], _pairs(_TABLES[name].values()), strict=True)) for name in ("gemini_2_5", "gemini_3", "xai")
)
SEEDREAM = {resolution: _pairs(rows) for resolution, rows in _TABLES["seedream"].items()}
SEEDREAM["4K"] = tuple((2 * width, 2 * height) for width, height in SEEDREAM["2K"])

# By a part of the name of a pipeline class or repository. Those in the last line work at about a megapixel, with sides
# that are multiples of 16 or 32.
_FAMILIES = {
    "Kontext": KONTEXT,
    **dict.fromkeys(("Flux2", "FLUX.2"), MEGAPIXEL),
    "Qwen": QWEN,
    "LongCat": _pairs(_TABLES["longcat"]),
    **dict.fromkeys(("Pix2Pix", "pix2pix"), _pairs(_TABLES["pix2pix"])),
    "Kandinsky": _pairs(_TABLES["kandinsky"]),
    "Joy": _pairs(_TABLES["joyimage"]),
    **dict.fromkeys(("ZImage", "Z-Image", "Glm", "GLM", "DreamLite", "Fibo", "ChronoEdit"), QWEN),
}


def ratio(size: Size) -> str:
    """The aspect ratio in lowest terms, such as 3:2 for 1248x832."""
    divisor = gcd(*size)
    return f"{size[0] // divisor}:{size[1] // divisor}"


def nearest(size: Size, sizes: tuple[Size, ...]) -> Size:
    """The size of the most similar shape."""
    return min(sizes, key=lambda option: abs(size[0] * option[1] - option[0] * size[1]) / (size[1] * option[1]))


def of_pipeline(name: str) -> tuple[Size, ...]:
    """The sizes that a pipeline class or repository of this name returns unchanged; none means any."""
    return next((sizes for family, sizes in _FAMILIES.items() if family in name), ())


def of_family(name: str) -> tuple[Size, ...]:
    """The sizes of a family that models.toml names; none means any."""
    families = {"megapixel": MEGAPIXEL, "kontext": KONTEXT, "qwen": QWEN, "openai": OPENAI, "": ()}
    return families[name] if name != "gemini" else tuple(GEMINI_3.values())
