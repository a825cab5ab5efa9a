"""Packages and devices for metrics with neural networks."""

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "bfloat16", "float16")


def require_packages(metric: str, *modules: str, extra: str = "score") -> None:
    absent = [name for name in modules if not _is_installed(name)]
    if absent:
        advice = f"pip install 'convergebench[{extra}]' brings"
        advice += f", as does pip install {' '.join(absent)}" if extra == "score" else ""
        raise FileNotFoundError(f"{metric} needs {' and '.join(absent)}, which {advice}")


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # it was set to None
        return False


def check_dtype(metric: str, dtype: str) -> None:
    if dtype not in DTYPES:
        raise ValueError(f"no dtype {dtype!r} for {metric}; the dtypes are {', '.join(DTYPES)}")


def available_device(device: str) -> str:
    try:
        import torch
    except ModuleNotFoundError:  # the metric itself reports that
        return device
    if device.partition(":")[0] == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device is {device!r}, but there is no CUDA here; use 'cpu'")
    return device


def to_device(values: "torch.Tensor", device: "torch.device") -> "torch.Tensor":
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)
