"""The metrics that need a network: LPIPS and CLIP, in bfloat16 where that is fast, and in float32 where it matters."""

import contextlib
import ctypes
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha1
from threading import Lock
from typing import Any

import numpy

from .measures import Measure, Pictures, Value, Values

# What bfloat16 may be off, twice what was seen on real chains; a value this near a threshold is computed in float32.
TOLERANCES = {"lpips": 2e-3, "lpips_worst_tile": 2e-2, "clip": 2e-3}
REMEMBERED = 1024  # embeddings of pictures that may come again: originals among the floors, and edits being judged


class Absent(Exception):
    """A network's weights cannot be had; the message is the reason that stands in the scores."""


def fast_dtype(device: str) -> str:
    """bfloat16 where the hardware multiplies it."""
    import torch

    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    known = torch.cpu.get_capabilities()
    return "bfloat16" if known.get("avx512_bf16") or known.get("amx_bf16") or known.get("bf16") else "float32"


def groups(device: object, pictures: Pictures) -> list[Pictures]:
    """What goes through a network at once: on a processor one picture, as more are not faster and round otherwise."""
    return [[picture] for picture in pictures] if str(device) == "cpu" else [pictures]


def lpips(device: str, dtype: str, net: str = "alex") -> Measure:
    """LPIPS and its worst tile."""
    from ..lpips import measure, weights

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
            found = [one for group in groups(device, pictures) for one in measure.distances(model, known, group)]
            return [{"lpips": distance.lpips, "lpips_worst_tile": distance.worst_tile} for distance in found]

        columns = ("lpips", "lpips_worst_tile")
        return Measure("lpips", columns, measure.signature(model), prepare, compare, ("lpips",), exact)

    exact = of("float32", None)
    return exact if dtype == "float32" else of(dtype, exact)


class Clip:
    """CLIP in one dtype; loaded when it is first needed, and a picture that comes again is not embedded again."""

    def __init__(self, load: Callable[[], Any], loaded: Any = None):
        self.load, self.loaded = load, loaded
        self.rows: OrderedDict[tuple[object, bytes], Any] = OrderedDict()
        self.lock = Lock()

    @property
    def model(self) -> Any:
        with self.lock:
            if self.loaded is None:
                self.loaded = self.load()
            return self.loaded

    def release(self) -> None:
        """Let the weights go; the C library would keep the pieces for itself."""
        with self.lock:
            self.loaded = None
        if sys.platform == "linux":
            with contextlib.suppress(AttributeError):  # another C library than GNU's
                ctypes.CDLL(None).malloc_trim(0)

    def embed(self, pictures: Pictures) -> list[Any]:
        """One row for each picture."""
        from ..clip_similarity import measure

        keys = [(picture.shape, sha1(picture.data, usedforsecurity=False).digest()) for picture in pictures]
        with self.lock:
            known = {key: self.rows[key] for key in keys if key in self.rows}
        new = {key: picture for key, picture in zip(keys, pictures, strict=True) if key not in known}
        if new:
            model = self.model
            rows = [
                row for group in groups(model.network.device, list(new.values())) for row in measure.embed(model, group)
            ]
            known |= zip(new, rows, strict=True)
        with self.lock:
            self.rows |= known
            while len(self.rows) > REMEMBERED:
                self.rows.popitem(last=False)
        return [known[key] for key in keys]

    def meanings(self, pictures: Pictures) -> list[numpy.ndarray]:
        return [row.cpu().numpy() for row in self.embed(pictures)]

    def words(self, text: str) -> numpy.ndarray:
        from ..clip_similarity import measure

        return measure.embed_words(self.model, text).cpu().numpy()


def clip(device: str, dtype: str, checkpoint: str | None = None) -> tuple[Measure, Clip]:
    """CLIP's image similarity, and the model itself."""
    from ..clip_similarity import measure

    name = checkpoint or measure.CHECKPOINT
    try:
        first = measure.load(name, device, dtype)
    except measure.Absent as error:
        raise Absent(str(error)) from None

    def of(known: Clip, signature: str, exact: Measure | None) -> Measure:
        def compare(reference: Any, pictures: Pictures, before: Sequence[Mapping[str, Value]]) -> list[Values]:
            return [{"clip": measure.compare(reference, row[None])[0]} for row in known.embed(pictures)]

        prepare: Callable[[numpy.ndarray], Any] = lambda picture: known.embed([picture])[0][None]  # noqa: E731
        return Measure("clip", ("clip",), signature, prepare, compare, ("clip",), exact, known.release)

    def again(kind: str) -> Any:
        return measure.load(name, device, kind, digest)

    digest, signature = first.digest, measure.signature(first)
    model = Clip(lambda: again(dtype), first)
    if dtype == "float32":
        return of(model, signature, None), model
    exact = of(Clip(lambda: again("float32")), signature.replace(dtype, "float32"), None)
    return of(model, signature, exact), model
