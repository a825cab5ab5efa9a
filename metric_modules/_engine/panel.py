"""Which metrics are asked for, which of them can be had here, and why not the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

from . import edits, measures, networks, recall
from .edits import Edits
from .measures import Measure

BUILT_IN = {
    "psnr": ("psnr", "rmse"),
    "ssim": ("ssim",),
    "lpips": ("lpips", "lpips_worst_tile"),
    "clip": ("clip",),
    "registration": tuple(measures.REGISTERED.values()),
    edits.NAME: edits.COLUMNS,
    recall.NAME: (recall.COLUMN,),
}
DTYPES = ("float32", "bfloat16")


class Unusable(ValueError):
    """What was asked for cannot be done; the message is one sentence that says what is allowed."""


@dataclass(frozen=True)
class Panel:
    """The metrics of a run, in the order of their columns."""

    measures: tuple[Measure, ...]
    absent: dict[str, str]  # metric: why it cannot be computed here
    asked: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]  # of every metric there is, asked for or not
    judge: Edits


def choose(asked: Sequence[str] | None, device: str | None, dtype: str | None) -> Panel:
    """The metrics asked for (all, where none are named), ready on a device."""
    further = {measure.name: measure for measure in measures.others()}
    columns = BUILT_IN | {name: measure.columns for name, measure in further.items()}
    names = tuple(columns) if asked is None else tuple(name for name in columns if name in asked)
    for name in asked or ():
        if name not in columns:
            raise Unusable(f"no metric {name!r}; the metrics are {', '.join(columns)}")
    if not names:
        raise Unusable(f"no metric was asked for; the metrics are {', '.join(columns)}")
    device = device_of(device)
    if dtype is not None and dtype not in DTYPES:
        raise Unusable(f"no dtype {dtype!r}; it is one of {', '.join(DTYPES)}")
    kind = dtype or networks.fast_dtype(device)
    judge = Edits()

    def clip() -> Measure:
        nonlocal judge
        measure, model = networks.clip(device, kind)
        judge = Edits(model.meanings, model.words, model.release)
        return measure

    makers = {
        "psnr": measures.pixels,
        "ssim": measures.structure,
        "lpips": lambda: networks.lpips(device, kind),
        "clip": clip,
        "registration": measures.registration,
        edits.NAME: lambda: judge.measure,  # after CLIP, so that it has a say
        recall.NAME: recall.measure,
    }
    ready, absent = [], {}
    for name in names:
        try:
            ready.append(further[name] if name in further else makers[name]())
        except networks.Absent as error:
            absent[name] = str(error)
    return Panel(tuple(ready), absent, names, columns, judge)


def device_of(asked: str | None) -> str:
    """The device to compute on: the one asked for, or the accelerator where there is one."""
    import torch

    if asked is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if asked.partition(":")[0] not in ("cpu", "cuda"):
        raise Unusable(f"no device {asked!r}; it is cpu or cuda")
    if asked.startswith("cuda") and not torch.cuda.is_available():
        raise Unusable("device is 'cuda' and there is none here; cpu is")
    return asked
