"""The Space, which shows a dataset in a browser; run as a program, it serves the dataset in CONVERGEBENCH_DATASET."""

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from convergebench.spaces_app.space import served_dataset

if TYPE_CHECKING:
    from convergebench.spaces_app.space.served_dataset import ServedDataset


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Everything made here stays for good; collecting garbage among it takes a seventh of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def serve(
    dataset: "ServedDataset",
    port: int | None = None,
    inbrowser: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Serve a dataset until the process is ended."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    with _without_garbage_collection():
        from convergebench.spaces_app.space.request_limit import keep_memory_low
        from convergebench.spaces_app.space.server import launch, make_server

        server = make_server(dataset)
        address = launch(server, port, inbrowser)
    keep_memory_low()
    say(f"{dataset.folder} at {address}")
    server.get_blocks().block_thread()


if __name__ == "__main__":
    with _without_garbage_collection():
        opened = served_dataset.open_dataset()
    serve(opened)
