"""Which metrics are asked for, which of them can be had here, and why not the rest.

Every metric is found by its folder and run by the protocol of specs.py; no metric is known here by its name.
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.generation.records import UserError

from ..specs import Spec, scored_specs

DTYPES = ("float32", "bfloat16", "float16")
Options = Mapping[str, Mapping[str, Any]]  # by metric: further arguments of its Scorer


@dataclass(frozen=True, eq=False)
class MetricRun:
    """A metric that is ready to run: its spec and the scorer of its folder."""

    spec: Spec
    scorer: Any
    exact: "MetricRun | None" = None  # the same in float32, for values near a threshold

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def signature(self) -> dict[str, Any]:
        """What its values depend on, as JSON gives it back."""
        return json.loads(json.dumps(self.scorer.signature))

    @property
    def floor_signature(self) -> dict[str, Any]:
        """The same for floors, which are always computed in float32."""
        return (self.exact or self).signature

    @property
    def is_heavy(self) -> bool:
        """Whether it holds weights that it can let go."""
        return hasattr(self.scorer, "release")

    def release(self) -> None:
        """Let large weights go until they are needed again."""
        for run in filter(None, (self, self.exact)):
            if run.is_heavy:
                run.scorer.release()


@dataclass(frozen=True)
class Metrics:
    """The metrics of a run, in the order of their columns."""

    runs: tuple[MetricRun, ...]
    absent: dict[str, str]  # metric: why it cannot be computed here
    specs: dict[str, Spec]  # of every metric that has columns, asked for or not


def choose(
    asked: Sequence[str] | None, device: str | None, dtype: str | None, options: Options | None = None
) -> Metrics:
    """The metrics asked for (where none are, all but the optional ones), ready on a device, with their options."""
    specs = scored_specs()
    names = [name for name, spec in specs.items() if (not spec.optional if asked is None else name in asked)]
    for name in asked or ():
        if name not in specs:
            raise UserError(f"no metric {name!r}; the metrics are {', '.join(specs)}")
    if not names:
        raise UserError(f"no metric was asked for; the metrics are {', '.join(specs)}")
    device = find_device(device)
    if dtype is not None and dtype not in DTYPES:
        raise UserError(f"no dtype {dtype!r}; it is one of {', '.join(DTYPES)}")
    dtype = dtype or fast_dtype(device)
    runs: dict[str, MetricRun] = {}
    absent = {}
    for name in names:
        spec = specs[name]
        module = importlib.import_module(f"convergebench.metric_modules.{spec.folder}.measure")
        earlier = {other: runs[other].scorer for other in spec.after if other in runs}
        try:
            which = {"metric": name} if spec.is_one_of_several else {}
            scorer = module.Scorer(device, dtype, earlier, **which, **(options or {}).get(name, {}))
        except FileNotFoundError as error:
            absent[name] = str(error)
            continue
        exact = getattr(scorer, "exact", None)
        runs[name] = MetricRun(spec, scorer, MetricRun(spec, exact) if exact else None)
    return Metrics(tuple(runs.values()), absent, specs)


def torch_if_installed() -> Any:
    """The module torch, or None: the metrics without networks are computed without it."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return None
    return torch


def find_device(asked: str | None) -> str:
    """The device to compute on: the one asked for, or the accelerator where there is one."""
    torch = torch_if_installed()
    has_cuda = torch is not None and torch.cuda.is_available()
    if asked is None:
        return "cuda" if has_cuda else "cpu"
    if asked.partition(":")[0] not in ("cpu", "cuda"):
        raise UserError(f"no device {asked!r}; it is cpu or cuda")
    if asked.startswith("cuda") and torch is None:
        raise UserError("device is 'cuda', and torch is not installed: pip install 'convergebench[score]'")
    if asked.startswith("cuda") and not has_cuda:
        raise UserError("device is 'cuda' and there is none here; cpu is")
    return asked


def device_of(device: str, rank: int) -> str:
    """The GPU of one task among those that it sees, dealt in turn; another device as it is.

    A task that is shown one GPU alone, as Slurm and Ray do it, has that one.
    """
    torch = torch_if_installed()
    if device != "cuda" or torch is None:
        return device
    return f"cuda:{rank % max(1, torch.cuda.device_count())}"


def fast_dtype(device: str) -> str:
    """bfloat16 where the hardware multiplies it, float16 on older GPUs."""
    torch = torch_if_installed()
    if torch is None:
        return "float32"
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"
    has = torch.cpu.get_capabilities()
    return "bfloat16" if has.get("avx512_bf16") or has.get("amx_bf16") or has.get("bf16") else "float32"
