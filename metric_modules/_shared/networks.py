"""Devices and downloads for metrics with neural networks."""

import queue
import threading
import urllib.request
from http.client import HTTPResponse
from typing import TYPE_CHECKING
from urllib.error import HTTPError

if TYPE_CHECKING:
    import torch


def available_device(device: str) -> str:
    """The device; raise ValueError if it is a GPU and this machine has none."""
    try:
        import torch
    except ModuleNotFoundError:  # the metric itself reports that
        return device
    if device.partition(":")[0] == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device is {device!r}, but there is no CUDA here; use 'cpu'")
    return device


def to_device(values: "torch.Tensor", device: "torch.device") -> "torch.Tensor":
    """Copy values to a device; to a GPU asynchronously, through pinned memory."""
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


def open_address(address: str, patience: float, stall: float) -> HTTPResponse | HTTPError | None:
    """The response of a host, or None after `patience` seconds; a thread waits, so that slow DNS counts too."""
    answers: queue.SimpleQueue[HTTPResponse | HTTPError | None] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(address, timeout=stall))  # noqa: S310 - a fixed address of this package
        except HTTPError as error:
            answers.put(error)
        except OSError:
            answers.put(None)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=patience)
    except queue.Empty:
        return None
