"""The tab on the metrics: one chain through all of them, what each sees and misses, and how far they agree."""

import html
from collections.abc import Mapping
from typing import Any

from . import chain_view, metrics_view
from .answers import plainly
from .store import Store

NOTE = "Retained: 1 is untouched, 0 another picture altogether."
NO_REFERENCE = (
    " Broken lines: no-reference scores, from the worst (0) to the best (1) of their typical range. They look at each "
    "picture on its own, so they stay high where an editor returns a clean picture of something else."
)


def metrics_tab(store: Store, tab: Any) -> None:
    """Drawn when the tab is first opened."""
    import gradio as gr

    start = store.chain(chain_view.pick(store, "worst"))
    _, pictures, programs, _ = chain_view.choices(store, start["editor"], start["source"], start["program"])
    with gr.Row(elem_classes="cb-filters"):
        editor = gr.Dropdown(store.names["editor"], value=start["editor"], label="Editor", min_width=150)
        source = gr.Dropdown(pictures, value=start["source"], label="Picture", min_width=150)
        program = gr.Dropdown(programs, value=start["program"], label="Program", min_width=150)
    plot = gr.Plot(show_label=False, elem_id="metrics")
    note = NOTE + (NO_REFERENCE if metrics_view.no_reference(store) else "")
    gr.HTML(f'<p class="cb-note">{note}</p>', apply_default_css=False)
    gr.HTML(f'<div class="cb-two"><div><h3>What each sees and misses</h3>{sees()}</div><div id="agreement">'
            f"{agreement(metrics_view.agreement(store))}</div></div>", apply_default_css=False)  # fmt: skip

    @plainly
    def draw(editor: str, source: str, program: str) -> list[Any]:
        chain, pictures, programs, _ = chain_view.choices(store, editor, source or "", program or "")
        row = store.chain(chain)
        return [
            gr.Dropdown(pictures, value=row["source"]),
            gr.Dropdown(programs, value=row["program"]),
            metrics_view.figure(store, chain),
        ]

    about = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 4}
    chosen = [editor, source, program]
    gr.on([tab.select, *(each.input for each in chosen)], draw, chosen, [source, program, plot], **about)


def sees() -> str:
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td>{seen}</td><td>{missed}</td></tr>'
        for name, seen, missed in metrics_view.sees()
    )
    head = '<tr><th scope="col">Metric</th><th scope="col">Sees</th><th scope="col">Misses</th></tr>'
    return (
        '<div class="cb-scroll" tabindex="0" role="region" aria-label="What each metric sees and misses">'
        f'<table class="cb-board cb-words"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )


def agreement(found: Mapping[str, Any]) -> str:
    """Rank correlations as a table of shades, with the number in every cell."""
    names = found["metrics"]
    if not names:
        return '<p class="cb-note">There are no retained scores to compare.</p>'
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(shade(value) for value in line)}</tr>'
        for name, line in zip(names, found["correlation"], strict=True)
    )
    lowest = ", ".join(f"{html.escape(name)} in {share:.0%}" for name, share in found["lowest"].items())
    return (
        "<h3>How far they agree</h3>"
        '<div class="cb-scroll" tabindex="0" role="region" aria-label="Agreement between metrics">'
        f'<table class="cb-board cb-heat"><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="cb-note">Rank correlation over {found["returns"]:,} returns: 1 means that two metrics put them in '
        f"the same order. The metric that has fallen furthest, and so decides: {lowest} of the damaged returns.</p>"
    )


def shade(value: float | None) -> str:
    if value is None:
        return '<td class="cb-n">–</td>'
    strength = round(55 * max(value, 0.0))
    colour = f"color-mix(in srgb, var(--cb-accent) {strength}%, transparent)"
    return f'<td class="cb-n" style="background: {colour}">{value:.2f}</td>'
