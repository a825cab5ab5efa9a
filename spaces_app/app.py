"""The Space: browse chains and curves in a browser; run as a program it serves what CONVERGEBENCH_DATASET names."""

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from convergebench.spaces_app.space import store as stores

if TYPE_CHECKING:
    from gradio import Blocks

TABS = ("leaderboard", "curves", "chains", "metrics", "score-yours")


def build(store: stores.Store) -> "Blocks":
    """All tabs and endpoints over one dataset."""
    import gradio as gr
    from convergebench.spaces_app.space import answers, chain_view, chains_tab, metrics_tab, story, tabs, yours_tab
    from convergebench.spaces_app.space.previews import Previews

    previews = Previews(store)
    gr.set_static_paths([previews.folder])
    with gr.Blocks(title="ConvergeBench", analytics_enabled=False, delete_cache=(600, 600)) as demo:
        gr.HTML(HEAD, apply_default_css=False)
        with gr.Tabs(elem_classes="cb-tabs") as chosen:
            with gr.Tab("Leaderboard", id="leaderboard"):
                strips = gr.HTML(story.story(store), js_on_load=tabs.LINKS, apply_default_css=False)
                board = tabs.leaderboard_tab(store)
            with gr.Tab("Curves", id="curves") as curves:
                tabs.curves_tab(store, curves)
            with gr.Tab("Chains", id="chains") as chains:
                viewer = chains_tab.chains_tab(store)
            with gr.Tab("Metrics", id="metrics") as metrics:
                metrics_tab.metrics_tab(store, metrics)
            with gr.Tab("Score yours", id="score-yours"):
                scorer = yours_tab.yours_tab(store)
        answers.attach(answers.Answers(store, previews), yours_tab.endpoint(scorer))

        about = {"api_visibility": "private", "show_progress": "hidden"}
        for name, tab in zip(TABS, chosen.children, strict=True):
            tab.select(None, js=f"() => window.convergebench.tab('{name}')")

        def opened(request: gr.Request) -> list[Any]:
            """What the address asks for."""
            query = dict(request.query_params)
            asked = chains_tab.Opening(store, query)
            tab = query.get("tab") if query.get("tab") in TABS else "chains" if asked.chain else "leaderboard"
            if asked.chain is None:
                return [gr.Tabs(selected=tab), *(gr.skip() for _ in viewer)]
            views = chains_tab.filled(store, asked.chain, asked.beside, asked.step, asked.mode, asked.gain)
            return [gr.Tabs(selected=tab), *views]

        def first(editor: str | None) -> list[Any]:
            """The tab was opened with nothing chosen yet."""
            if editor:
                return [gr.skip() for _ in viewer]
            return chains_tab.filled(store, chain_view.pick(store, "worst"))

        def linked(event: gr.EventData) -> list[Any]:
            """A link in the table or in a strip was followed."""
            chain = event.chain or chains_tab.first_of(store, event.editor)
            step = int(event.step) if event.step else None
            return [gr.Tabs(selected="chains"), *chains_tab.filled(store, chain, step=step)]

        demo.load(answers.plainly(opened), None, [chosen, *viewer], **about)
        chains.select(answers.plainly(first), viewer[0], viewer, **about)
        for source in (strips, board):
            source.click(answers.plainly(linked), None, [chosen, *viewer], **about)
    return demo


HEAD = (
    '<div class="cb-head"><h1>ConvergeBench</h1>'
    "<p>How long does an image editor survive being used again and again?</p>"
    '<button type="button" data-theme-toggle aria-label="Light or dark">◐ light / dark</button></div>'
)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """What is made here stays; looking through it for garbage again and again takes a seventh of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def serve(
    store: stores.Store,
    port: int | None = None,
    wait: bool = True,
    inbrowser: bool = False,
    say: Callable[[str], object] = print,
) -> "Blocks":
    """Serve a dataset; with `wait`, until the process is ended."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    with uncollected():
        from convergebench.spaces_app.space import limits, theme, yours
        from starlette.middleware import Middleware

        demo = build(store)
        _, address, _ = demo.launch(
            server_port=port,
            prevent_thread_lock=True,
            inbrowser=inbrowser,
            show_error=True,
            max_file_size=yours.FILE,
            ssr_mode=False,
            state_session_capacity=500,  # visitors; nothing of theirs is kept but what Gradio keeps of each
            run_history=False,
            quiet=True,
            footer_links=["api"],
            theme=theme.theme(),
            css=theme.css(),
            head=theme.head(),
            app_kwargs={"middleware": [Middleware(limits.Limited)]},
            favicon_path=str(theme.HERE / "icon.svg"),
        )
    say(f"{store.folder} at {address}")
    if wait:
        demo.block_thread()
    return demo


if __name__ == "__main__":
    serve(stores.opened())
