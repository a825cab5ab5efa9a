"""The metrics that need a network: LPIPS and CLIP, in bfloat16 where that is fast, and in float32 where it matters."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy

from .measures import Measure, Pictures, Value, Values

TOLERANCE = 2e-3  # what bfloat16 may be off; a value this near a threshold is computed again in float32
CLIP = "openai/clip-vit-large-patch14"


class Absent(Exception):
    """A network's weights cannot be had; the message is the reason that stands in the scores."""


def fast_dtype(device: str) -> str:
    """bfloat16 where the hardware multiplies it."""
    import torch

    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    known = torch.cpu.get_capabilities()
    return "bfloat16" if known.get("avx512_bf16") or known.get("amx_bf16") or known.get("bf16") else "float32"


def lpips(device: str, dtype: str, net: str = "alex") -> Measure:
    """LPIPS and its worst tile."""
    from .lpips import measure, weights

    try:
        tensors, digest = weights.load(net)
    except FileNotFoundError:
        raise Absent("the LPIPS weights are not here; `convergebench weights lpips` brings them") from None

    def of(kind: str, exact: Measure | None) -> Measure:
        model = measure.model(net, tensors, device, kind, digest)

        def prepare(picture: numpy.ndarray) -> Any:
            return measure.features(model, [picture]) if min(picture.shape[:2]) >= measure.SMALLEST else None

        def compare(known: Any, pictures: Pictures, before: Sequence[Mapping[str, Value]]) -> list[Values]:
            if known is None:
                small = f"the picture is smaller than the {measure.SMALLEST} pixels that LPIPS needs"
                return [dict.fromkeys(("lpips", "lpips_worst_tile"), small) for _ in pictures]
            found = measure.distances(model, known, pictures)
            return [{"lpips": distance.lpips, "lpips_worst_tile": distance.worst_tile} for distance in found]

        columns = ("lpips", "lpips_worst_tile")
        return Measure("lpips", columns, measure.signature(model), prepare, compare, ("lpips",), exact)

    exact = of("float32", None)
    return exact if dtype == "float32" else of(dtype, exact)


def clip(device: str, dtype: str, checkpoint: str = CLIP) -> Measure:
    """CLIP's image similarity."""
    from .clip_similarity import measure

    try:
        model = measure.load(checkpoint, device, dtype)
    except measure.Absent as error:
        raise Absent(str(error)) from None

    @lru_cache(maxsize=1)
    def exact_model() -> Any:
        return measure.load(checkpoint, device, "float32")

    def of(kind: str, exact: Measure | None) -> Measure:
        def prepare(picture: numpy.ndarray) -> Any:
            return measure.embed(model if kind == dtype else exact_model(), [picture])

        def compare(known: Any, pictures: Pictures, before: Sequence[Mapping[str, Value]]) -> list[Values]:
            rows = measure.embed(model if kind == dtype else exact_model(), pictures)
            return [{"clip": value} for value in measure.compare(known, rows)]

        return Measure("clip", ("clip",), measure.signature(model), prepare, compare, ("clip",), exact)

    return of(dtype, None if dtype == "float32" else of("float32", None))
