"""Loads the requested metrics, or says why one cannot be computed; no metric is named here."""

import importlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from convergebench.generation.records import UserError, one_of

from .._shared.networks import DTYPES
from ..scores import Missing, Value
from ..specs import Spec, scored_specs

Part = dict[str, object]  # one metric's part of a signature


@dataclass(frozen=True, eq=False)
class MetricRun:
    spec: Spec
    scorer: Any  # described in CONTRIBUTING.md
    exact: "MetricRun | None" = None  # the same in float32, for values near a threshold

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def signature(self) -> Part:
        """What its values depend on, normalised to JSON types."""
        part: Part = json.loads(json.dumps(self.scorer.signature))
        return part

    @property
    def floor_signature(self) -> Part:
        """The same for floors, which are always computed in float32."""
        return (self.exact or self).signature


def choose(
    requested: Sequence[str] | None, device: str | None, dtype: str | None
) -> tuple[list[MetricRun], dict[str, str]]:
    """Load metrics, by default all but the optional ones; also returns why some are absent."""
    specs = scored_specs()
    names = [
        name for name, spec in specs.items() if (not spec.optional if requested is None else name in requested)
    ]
    for name in requested or ():
        if name not in specs:
            raise UserError(f"no metric {name!r}; the metrics are {', '.join(specs)}")
    if not names:
        raise UserError(f"no metric was requested; the metrics are {', '.join(specs)}")
    device = find_device(device)
    if dtype is not None:
        one_of("dtype", dtype, DTYPES)
    runs: dict[str, MetricRun] = {}
    absent: dict[str, str] = {}
    for name in names:
        spec = specs[name]
        module = importlib.import_module(f"{spec.package}.measure")
        earlier = {other: runs[other].scorer for other in spec.after if other in runs}
        arguments = {"metric": name} if spec.is_one_of_several else {}
        try:
            # Without this class the functions of measure.py are the scorer.
            Scorer = getattr(module, "Scorer", None)
            scorer = Scorer(device, dtype or fast_dtype(device), earlier, **arguments) if Scorer else module
        except FileNotFoundError as error:
            absent[name] = str(error)
            continue
        exact = getattr(scorer, "exact", None)
        runs[name] = MetricRun(spec, scorer, MetricRun(spec, exact) if exact else None)
    return list(runs.values()), absent


def refuse_absent(absent: Mapping[str, str]) -> None:
    """Raise for a metric that was asked for by name and cannot be computed here."""
    for name, reason in absent.items():
        raise UserError(f"the metric {name} cannot be computed here: {reason}")


def typed(value: object) -> Value:
    """What a metric returned; a reason or a number that is not finite becomes `Missing`."""
    if isinstance(value, str):
        return Missing(value)
    if isinstance(value, tuple | list):
        return Missing(*value)
    if isinstance(value, float) and not math.isfinite(value):
        return Missing("not_a_number", str(value))
    return value  # type: ignore[return-value]


def torch_if_installed() -> ModuleType | None:
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return None
    return torch


def find_device(requested: str | None) -> str:
    if requested == "cpu":
        return requested  # without loading torch, which takes 250 MB
    torch = torch_if_installed()
    has_cuda = torch is not None and torch.cuda.is_available()
    if requested is None:
        return "cuda" if has_cuda else "cpu"
    one_of("device", requested.partition(":")[0], ("cpu", "cuda"))
    if requested != "cpu" and torch is None:
        raise UserError("device 'cuda' needs torch: pip install 'convergebench[score]'")
    if requested != "cpu" and not has_cuda:
        raise UserError("device is 'cuda', but this machine has none; use cpu")
    return requested


def device_of(device: str, rank: int) -> str:
    """The GPU of one task, assigned in turn; on Slurm a task may see only its own."""
    torch = torch_if_installed()
    if device != "cuda" or torch is None:
        return device
    return f"cuda:{rank % max(1, torch.cuda.device_count())}"


def fast_dtype(device: str) -> str:
    """bfloat16 if the hardware multiplies it; else float16 on a GPU, float32 on a CPU."""
    torch = torch_if_installed()
    if torch is None:
        return "float32"
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"
    capabilities = torch.cpu.get_capabilities()
    return "bfloat16" if any(map(capabilities.get, ("avx512_bf16", "amx_bf16", "bf16"))) else "float32"
