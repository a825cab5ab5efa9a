"""The tab in which any step of any chain can be looked at, and links that open exactly one view."""

import html
import json
from collections.abc import Mapping
from typing import Any

from . import chain_view
from .answers import plainly
from .store import Store, Unknown

NOBODY = "nobody"
MODES = ("divider", "difference", "step")


class Opening:
    """What the address asks for, read with suspicion: what is not known is left out."""

    def __init__(self, store: Store, query: Mapping[str, str]):
        self.chain = query.get("chain") if query.get("chain") in store.chains else None
        beside = query.get("beside")
        self.beside = store.chains[beside]["editor"] if beside in store.chains else NOBODY
        self.step = int(query["step"]) if query.get("step", "").isdecimal() and len(query["step"]) < 7 else None
        self.mode = query["view"] if query.get("view") in MODES else ""
        self.gain = query["gain"] if query.get("gain") in ("1", "2", "4", "8", "16", "32") else ""
        if self.chain is None and query.get("editor") in store.names["editor"]:
            self.chain = first_of(store, query["editor"])


def first_of(store: Store, editor: str) -> str:
    """The chain that tells most of an editor: the one lost first."""
    try:
        return chain_view.pick(store, "worst", editor)
    except Unknown:
        return next(chain for chain, row in store.chains.items() if row["editor"] == editor)


def viewer(
    store: Store, chain: str, beside: str = NOBODY, step: int | None = None, mode: str = "", gain: str = ""
) -> str:
    """The element that the browser turns into the view; everything in it is escaped."""
    views = [chain_view.view(store, chain)]
    row = store.chain(chain)
    if beside not in (NOBODY, row["editor"]):
        others = store.by_choice.get((beside, row["source"], row["program"]), [])
        matching = [other for other in others if store.chains[other]["run"] == row["run"]] or others
        if not matching:
            raise Unknown(f"{beside} has no chain of {row['program']} on {row['source']}; choose another editor")
        views.append(chain_view.view(store, matching[0]))
    data = html.escape(json.dumps(views, allow_nan=False), quote=True)
    at = "" if step is None else step
    return f'<div class="cb-viewer" data-views="{data}" data-step="{at}" data-mode="{mode}" data-gain="{gain}"></div>'


def chains_tab(store: Store) -> list[Any]:
    """The controls and the viewer; gives what a link has to fill in."""
    import gradio as gr

    with gr.Row(elem_classes="cb-filters"):
        editor = gr.Dropdown(store.names["editor"], value=None, label="Editor", min_width=150)
        source = gr.Dropdown(store.names["source"], value=None, label="Picture", min_width=150)
        program = gr.Dropdown(label="Program", min_width=150)
        run = gr.Dropdown(label="Run", min_width=90, visible=False)
        beside = gr.Dropdown(
            [NOBODY, *store.names["editor"]], value=NOBODY, label="Beside it, in lockstep", min_width=150
        )
    with gr.Row(elem_classes="cb-picks"):
        buttons = {
            "surprise": gr.Button("Surprise me", size="sm", min_width=110),
            "worst": gr.Button("Worst", size="sm", min_width=90),
            "longest": gr.Button("Longest-lived", size="sm", min_width=110),
        }
    shown = gr.HTML(elem_id="viewer", js_on_load=None, apply_default_css=False)
    outputs = [editor, source, program, run, beside, shown]
    about = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 8}

    @plainly
    def choose(editor: str, source: str, program: str, beside: str) -> list[Any]:
        chain, *_ = chain_view.choices(store, editor, source or "", program or "")
        return filled(store, chain, beside)

    @plainly
    def choose_run(chain: str, beside: str) -> list[Any]:
        return filled(store, chain, beside)

    def picker(how: str) -> Any:
        @plainly
        def picked(beside: str) -> list[Any]:
            return filled(store, chain_view.pick(store, how), beside)

        return picked

    gr.on([editor.input, source.input, program.input], choose, [editor, source, program, beside], outputs, **about)
    gr.on([run.input, beside.input], choose_run, [run, beside], outputs, **about)
    for how, button in buttons.items():
        button.click(picker(how), beside, outputs, **about)
    return outputs


def filled(
    store: Store, chain: str, beside: str = NOBODY, step: int | None = None, mode: str = "", gain: str = ""
) -> list[Any]:
    """All controls and the viewer, set to one chain; who has no such case cannot stand beside it."""
    import gradio as gr

    row = store.chain(chain)
    _, pictures, programs, runs = chain_view.choices(store, row["editor"], row["source"], row["program"])
    others = [name for name in store.names["editor"]
              if name != row["editor"] and (name, row["source"], row["program"]) in store.by_choice]  # fmt: skip
    beside = beside if beside in others else NOBODY
    return [
        gr.Dropdown(value=row["editor"]),
        gr.Dropdown(pictures, value=row["source"]),
        gr.Dropdown(programs, value=row["program"]),
        gr.Dropdown([(str(store.chains[each]["run"]), each) for each in runs], value=chain, visible=len(runs) > 1),
        gr.Dropdown([NOBODY, *others], value=beside),
        viewer(store, chain, beside, step, mode, gain),
    ]
