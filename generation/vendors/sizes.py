"""The sizes at which editors are stable, from sizes.toml: a picture of such a size is returned in that size."""

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from ..files import toml_beside

Size = tuple[int, int]


def _pairs(rows: Iterable[Sequence[int]]) -> tuple[Size, ...]:
    return tuple((width, height) for width, height in rows)


_TABLES = toml_beside(__file__, "sizes.toml")
GEMINI, GEMINI_2 = (
    dict(zip(_TABLES[name], _pairs(_TABLES[name].values()), strict=True)) for name in ("gemini_3", "gemini_2_5")
)
SEEDREAM = {resolution: _pairs(rows) for resolution, rows in _TABLES["seedream"].items()}
SEEDREAM["4K"] = tuple((2 * width, 2 * height) for width, height in SEEDREAM["2K"])
# The names are those of models.toml; "" means any size.
FAMILIES = {name: _pairs(rows) for name, rows in _TABLES.items() if isinstance(rows, list)} | {"": ()}
FAMILIES |= {"gemini": tuple(GEMINI.values()), "gemini_2": tuple(GEMINI_2.values())}
FAMILIES["megapixel"] = tuple(size for size in FAMILIES["kontext"] if size[0] * size[1] <= 1024 * 1024)


def ratio(size: Size) -> str:
    divisor = gcd(*size)
    return f"{size[0] // divisor}:{size[1] // divisor}"


def nearest(size: Size, sizes: Iterable[Size]) -> Size:
    return min(sizes, key=lambda option: abs(size[0] * option[1] - option[0] * size[1]) / (size[1] * option[1]))


def nearest_ratio(size: Size, sizes: Mapping[str, Size]) -> str:
    shape = nearest(size, sizes.values())
    return next(name for name, option in sizes.items() if option == shape)


def of_pipeline(name: str) -> tuple[Size, ...]:
    return next((FAMILIES[family] for part, family in _TABLES["pipelines"].items() if part in name), ())
