"""The Space, which shows a dataset in a browser."""

import gc
import os
import shutil
from importlib.util import find_spec

from convergebench.spaces_app.space import served_dataset


def serve(dataset: served_dataset.ServedDataset, port: int | None = None, inbrowser: bool = False) -> None:
    """Serve a dataset until the process is ended."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    os.environ.setdefault("MPLBACKEND", "agg")  # while it is unset, Gradio's first request imports pyplot
    gc.disable()  # collecting garbage takes a seventh of the start, and all of this stays
    try:
        from convergebench.spaces_app.space.previews import previews_of
        from convergebench.spaces_app.space.request_limit import keep_memory_low
        from convergebench.spaces_app.space.server import make_server

        uploads = previews_of(dataset).folder.parent / "uploads"
        shutil.rmtree(uploads, ignore_errors=True)  # what a server before this one left
        os.environ["GRADIO_TEMP_DIR"] = str(uploads)
        server = make_server(dataset)
        _, address, _ = server.launch(
            server_port=port,
            prevent_thread_lock=True,
            inbrowser=inbrowser,
            show_error=True,
            state_session_capacity=50,  # visitors whom Gradio remembers; each takes 40 KB
            run_history=False,
            mcp_server=find_spec("mcp") is not None,  # public endpoints as tools of the Model Context Protocol
            max_threads=12,  # a thread that has ended a request keeps some memory
            quiet=True,
        )
    finally:
        gc.freeze()
        gc.enable()
    keep_memory_low()
    print(f"{dataset.folder} at {address}", flush=True)
    server.get_blocks().block_thread()


if __name__ == "__main__":
    gc.disable()
    serve(served_dataset.open_dataset())
