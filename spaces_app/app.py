"""The Space: browse chains and curves in a browser; run as a program it serves what CONVERGEBENCH_DATASET names."""

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from convergebench.spaces_app.space import served_dataset

if TYPE_CHECKING:
    from convergebench.spaces_app.space.served_dataset import ServedDataset
    from gradio import Blocks


def build(dataset: "ServedDataset") -> "Blocks":
    """The page and all endpoints over one dataset."""
    import gradio as gr
    from convergebench.spaces_app.space import api, shell
    from convergebench.spaces_app.space.previews import Previews
    from convergebench.spaces_app.space.score_yours_tab import Scorer

    previews = Previews(dataset)
    gr.set_static_paths([previews.folder])
    with gr.Blocks(title="ConvergeBench", analytics_enabled=False, delete_cache=(600, 600)) as demo:
        gr.HTML(shell.shell_html(dataset), js_on_load=None, apply_default_css=False)
        api.attach(api.Endpoints(dataset, previews), Scorer(dataset))
    return demo


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """What is made here stays for good; looking through it for garbage takes a seventh of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def serve(
    dataset: "ServedDataset",
    port: int | None = None,
    wait: bool = True,
    inbrowser: bool = False,
    say: Callable[[str], object] = print,
) -> "Blocks":
    """Serve a dataset; with `wait`, until the process is ended."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    with without_garbage_collection():
        from convergebench.spaces_app.space import page, request_limit, score_yours, strip_picture
        from starlette.middleware import Middleware

        request_limit.keep_large_blocks_apart()
        request_limit.forget_values_of_visitors()
        demo = build(dataset)
        _, address, _ = demo.launch(
            server_port=port,
            prevent_thread_lock=True,
            inbrowser=inbrowser,
            show_error=True,
            max_file_size=score_yours.MOST_FILE_BYTES,
            ssr_mode=False,
            state_session_capacity=500,  # visitors; of each, only what Gradio itself remembers
            run_history=False,
            quiet=True,
            footer_links=["api"],
            theme=page.theme(),
            css=page.css(),
            head=page.head(),
            app_kwargs={
                "middleware": [
                    Middleware(request_limit.RequestLimit),
                    Middleware(strip_picture.LinkPreview, dataset=dataset),
                ]
            },
            favicon_path=str(page.HERE / "icon.svg"),
        )
        request_limit.forget_finished_requests(demo._queue)
    say(f"{dataset.folder} at {address}")
    if wait:
        demo.block_thread()
    return demo


if __name__ == "__main__":
    with without_garbage_collection():
        opened = served_dataset.open_dataset()
    serve(opened)
