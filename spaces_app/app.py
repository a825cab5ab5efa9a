"""The Space: browse chains and curves in a browser; run as a program it serves what CONVERGEBENCH_DATASET names."""

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from convergebench.spaces_app.space import served_dataset

if TYPE_CHECKING:
    from convergebench.spaces_app.space.served_dataset import ServedDataset
    from gradio import Blocks

TABS = ("leaderboard", "curves", "chains", "metrics", "score-yours")
HEAD = (
    '<div class="cb-head"><h1>ConvergeBench</h1>'
    "<p>Edit, undo, repeat: how many rounds before the picture breaks?</p>"
    '<button type="button" data-theme-toggle aria-label="Light or dark">◐ light / dark</button></div>'
)


def build(dataset: "ServedDataset") -> "Blocks":
    """All tabs and endpoints over one dataset."""
    import gradio as gr
    from convergebench.spaces_app.space import (
        api,
        chains_tab,
        curves_tab,
        leaderboard_tab,
        metrics_tab,
        score_yours_tab,
    )
    from convergebench.spaces_app.space.errors import explain_errors
    from convergebench.spaces_app.space.previews import Previews

    previews = Previews(dataset)
    gr.set_static_paths([previews.folder])
    with gr.Blocks(title="ConvergeBench", analytics_enabled=False, delete_cache=(600, 600)) as demo:
        gr.HTML(HEAD, apply_default_css=False)
        with gr.Tabs(elem_classes="cb-tabs") as tabs:
            with gr.Tab("Leaderboard", id="leaderboard"):
                linking = leaderboard_tab.leaderboard_tab(dataset)
            with gr.Tab("Curves", id="curves") as curves:
                curves_tab.curves_tab(dataset, curves, previews)
            with gr.Tab("Chains", id="chains") as chains:
                viewer = chains_tab.chains_tab(dataset)
            with gr.Tab("Metrics", id="metrics") as metrics:
                metrics_tab.metrics_tab(dataset, metrics)
            with gr.Tab("Score yours", id="score-yours"):
                scorer = score_yours_tab.score_yours_tab(dataset)
        api.attach(api.Endpoints(dataset, previews), score_yours_tab.endpoint(scorer))

        about = {"api_visibility": "private", "show_progress": "hidden"}
        for name, tab in zip(TABS, tabs.children, strict=True):
            tab.select(None, js=f"() => window.convergebench.tab('{name}')")

        def open_address(request: gr.Request) -> list[Any]:
            """The page was opened: show what its address asks for."""
            query = dict(request.query_params)
            address = chains_tab.Address(dataset, query)
            tab = query.get("tab") if query.get("tab") in TABS else "chains" if address.chain else "leaderboard"
            if address.chain is None:
                return [gr.Tabs(selected=tab), *(gr.skip() for _ in viewer)]
            shown = chains_tab.show_chain(
                dataset, address.chain, address.beside, address.step, address.mode, address.gain
            )
            return [gr.Tabs(selected=tab), *shown]

        def open_chains_tab(editor: str | None) -> list[Any]:
            """The tab was opened: where no chain is shown yet, show the worst."""
            if editor:
                return [gr.skip() for _ in viewer]
            return chains_tab.show_chain(dataset, chains_tab.pick(dataset, "worst"))

        def follow_link(event: gr.EventData) -> list[Any]:
            """A link in the table or in a strip was followed."""
            chain = event.chain or chains_tab.telling_chain(dataset, event.editor)
            step = int(event.step) if event.step else None
            return [gr.Tabs(selected="chains"), *chains_tab.show_chain(dataset, chain, step=step)]

        demo.load(explain_errors(open_address), None, [tabs, *viewer], **about)
        chains.select(explain_errors(open_chains_tab), viewer[0], viewer, **about)
        for component in linking:
            component.click(explain_errors(follow_link), None, [tabs, *viewer], **about)
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
        from convergebench.spaces_app.space import page, request_limit, score_yours
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
            app_kwargs={"middleware": [Middleware(request_limit.RequestLimit)]},
            favicon_path=str(page.HERE / "icon.svg"),
        )
        request_limit.forget_finished_requests(demo._queue)
    say(f"{dataset.folder} at {address}")
    if wait:
        demo.block_thread()
    return demo


if __name__ == "__main__":
    serve(served_dataset.open_dataset())
