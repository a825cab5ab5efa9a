"""What metrics with neural networks share: where they compute, and the hosts of their weights."""

import queue
import threading
import urllib.request
from http.client import HTTPResponse
from typing import TYPE_CHECKING
from urllib.error import HTTPError

if TYPE_CHECKING:
    import torch


def available_device(device: str) -> str:
    """The device; refused if it is a GPU that is not here."""
    try:
        import torch
    except ModuleNotFoundError:  # the metric itself says so
        return device
    if device.partition(":")[0] == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device is {device!r}, but there is no CUDA here; use 'cpu'")
    return device


def moved(values: "torch.Tensor", device: "torch.device") -> "torch.Tensor":
    """Values on their device: to a GPU through pinned memory, while the processor goes on."""
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


def opened(address: str, patience: float, stall: float) -> HTTPResponse | HTTPError | None:
    """The response of a host; None if it has not answered in time. A slow name server counts too, so a thread waits."""
    answers: queue.SimpleQueue[HTTPResponse | HTTPError | None] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(address, timeout=stall))  # noqa: S310 - the address is one of ours
        except HTTPError as error:
            answers.put(error)
        except OSError:
            answers.put(None)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=patience)
    except queue.Empty:
        return None
