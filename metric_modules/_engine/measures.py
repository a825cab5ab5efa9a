"""The metrics as the engine runs them: what is known of a reference once, and then any number of pictures.

A value is a number, or the sentence that says why there is none.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

Value = float | bool | str
Values = dict[str, Value]
Pictures = Sequence[numpy.ndarray]


@dataclass(frozen=True)
class Measure:
    """One metric: its columns, its signature, its reference side, and its values for pictures of the reference's size.

    `compare` is also handed the values that earlier measures found for the same pictures.
    """

    name: str
    columns: tuple[str, ...]
    signature: str
    prepare: Callable[[numpy.ndarray], Any]
    compare: Callable[[Any, Pictures, Sequence[Mapping[str, Value]]], list[Values]]
    floors: tuple[str, ...] = ()  # columns for which unrelated pictures say where nothing is left
    exact: "Measure | None" = None  # the same in float32, for values near a threshold
    release: Callable[[], None] | None = None  # lets large weights go, until they are asked for again


def part(signature: str) -> str:
    """The metric that a signature belongs to."""
    return signature.partition("/")[0]


def pixels() -> Measure:
    from ..psnr import measure

    def compare(known: numpy.ndarray, pictures: Pictures, before: object) -> list[Values]:
        return [dict(measure.compare(known, picture)) for picture in pictures]

    return Measure("psnr", ("psnr", "rmse"), measure.signature(), lambda picture: picture, compare, ("rmse",))


def structure() -> Measure:
    from ..ssim import measure

    def prepare(picture: numpy.ndarray) -> Any:
        return measure.reference(picture) if min(picture.shape[:2]) >= measure.smallest() else None

    def compare(known: Any, pictures: Pictures, before: object) -> list[Values]:
        if known is None:
            return [{"ssim": "the picture is smaller than the window of SSIM"} for _ in pictures]
        return [{"ssim": measure.compare(known, picture)} for picture in pictures]

    return Measure("ssim", ("ssim",), measure.signature(), prepare, compare, ("ssim",))


REGISTERED = {
    "psnr": "psnr_registered",
    "ssim": "ssim_registered",
    "shift_x": "shift_x",
    "shift_y": "shift_y",
    "scale": "scale",
    "residual": "registration_residual",
}


def registration() -> Measure:
    from ..registration import align
    from ..registration import compare as registered

    def prepare(picture: numpy.ndarray) -> Any:
        return align.anchors(picture), picture

    def compare(known: Any, pictures: Pictures, before: Sequence[Mapping[str, Value]]) -> list[Values]:
        found = []
        for picture, earlier in zip(pictures, before, strict=True):
            raw = {name: value for name in ("psnr", "ssim") if isinstance(value := earlier.get(name), float)}
            result = registered.compare(known[0], known[1], picture, raw if len(raw) == 2 else None)
            both = {name: value for name, value in result.values.items() if value is not None} | result.reasons
            found.append({REGISTERED[name]: value for name, value in both.items()})
        return found

    signature = (
        f"registration/1 levels={'/'.join(map(str, align.LEVELS))} residual<{align.RESIDUAL:g} still={align.STILL:g}"
    )
    return Measure("registration", tuple(REGISTERED.values()), signature, prepare, compare)


def further(folder: Path) -> Measure | None:
    """Any other metric whose folder holds the per-image form: `measure.py` with COLUMNS, per_image and signature.

    COLUMNS names its columns, `per_image(reference, picture)` takes two RGB uint8 arrays of one size and gives a number
    for each, `signature()` says what the numbers depend on.
    """
    path = folder / "measure.py"
    if not path.is_file() or "\ndef per_image(" not in path.read_text(encoding="utf-8"):
        return None
    module: ModuleType = importlib.import_module(f"convergebench.metric_modules.{folder.name}.measure")

    def compare(known: numpy.ndarray, pictures: Pictures, before: object) -> list[Values]:
        return [dict(module.per_image(known, picture)) for picture in pictures]

    return Measure(folder.name, tuple(module.COLUMNS), module.signature(), lambda picture: picture, compare)


def others() -> list[Measure]:
    """The further metrics, found by their folders."""
    from convergebench import metric_modules

    folders = sorted(path for root in metric_modules.__path__ for path in Path(root).iterdir() if path.is_dir())
    return [measure for folder in folders if (measure := further(folder))]
