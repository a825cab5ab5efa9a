"""The tabs that show the table and the curves."""

import tempfile
from pathlib import Path
from typing import Any

from . import board, board_html, curve_view
from .answers import plainly
from .board import ALL, Choice
from .store import Store

NOTE = (
    "A case counts until the first of: a change not made, not taken back, too much of the original gone, one part "
    "become another picture, a refusal. Reference rows say where the scale begins and ends. Limits are 95%, over "
    "pictures; with fewer than 12 common pictures there are no ranks. Click a heading to "
    "sort, an editor to see its chains."
)
CURVES_NOTE = (
    "Means with 95% bands over pictures; broken lines are reference rows. Retained: 1 is untouched, 0 another picture "
    "altogether; retained quality is the lowest of RMSE, SSIM and LPIPS. The camera above the figure saves it; the "
    "button saves its numbers."
)


def filters(store: Store) -> tuple[Any, Any, Any]:
    """Programs, kind of picture, category: in one row."""
    import gradio as gr

    known = board.groups(store)
    group = gr.Dropdown(
        known, value=known[0] if known else None, label="Programs", visible=len(known) > 1, min_width=150
    )
    kind = gr.Dropdown([ALL, *store.names["kind"]], value=ALL, label="Kind of picture", min_width=140)
    category = gr.Dropdown([ALL, *store.names["category"]], value=ALL, label="Category of edit", min_width=140)
    return group, kind, category


def leaderboard_tab(store: Store) -> Any:
    """The table with its filters; gives the component whose links open chains."""
    import gradio as gr

    with gr.Row(elem_classes="cb-filters"):
        group, kind, category = filters(store)
        metric = gr.Dropdown([(title, name) for name, title in board.metrics(store).items()], value="convergence",
                             label="What has to last", min_width=220)  # fmt: skip
        threshold = gr.Slider(0.05, 0.95, 0.5, step=0.05, label="Lost below", min_width=230)
        editors = gr.Dropdown(
            store.names["editor"], value=[], multiselect=True, label="Editors side by side", min_width=180
        )
    shown = gr.HTML(board_html.table(board.board(store)), elem_id="board", js_on_load=LINKS, apply_default_css=False)
    versus = gr.HTML(apply_default_css=False)
    gr.HTML(f'<p class="cb-note">{NOTE}</p>', apply_default_css=False)

    @plainly
    def ask(group: str, kind: str, category: str, metric: str, threshold: float, editors: list[str]) -> tuple[str, str]:
        found = board.board(store, Choice(group or "", kind, category, metric, threshold, tuple(editors)))
        return board_html.table(found), board_html.versus(found.versus, editors) if editors else ""

    inputs = [group, kind, category, metric, threshold, editors]
    gr.on(
        [each.input for each in inputs],
        ask,
        inputs,
        [shown, versus],
        api_visibility="private",
        show_progress="hidden",
        trigger_mode="always_last",
        concurrency_limit=4,
    )
    return shown


# Links in a table or a strip open the chain without loading the page again.
LINKS = """
element.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-editor], a[data-open]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  trigger('click', {editor: link.dataset.editor ?? '', chain: link.dataset.open ?? '', step: link.dataset.at ?? ''});
});
"""


def curves_tab(store: Store, tab: Any) -> None:
    """The figure with its filters; drawn when the tab is first opened."""
    import gradio as gr

    with gr.Row(elem_classes="cb-filters"):
        names = [(curve_view.short(title), name) for name, title in curve_view.names(store).items()]
        metric = gr.Dropdown(
            names,
            value="quality" if "quality" in dict(curve_view.names(store)) else None,
            label="Metric",
            min_width=240,
        )
        group, kind, category = filters(store)
        single = gr.Checkbox(False, label="Single chains", info="faint; point at one for its name", min_width=180)
    plot = gr.Plot(show_label=False, elem_id="curves")
    with gr.Row():
        gr.HTML(f'<p class="cb-note">{CURVES_NOTE}</p>', apply_default_css=False)
        save = gr.DownloadButton("Numbers as CSV", size="sm", scale=0, min_width=160)

    @plainly
    def draw(metric: str, group: str, kind: str, category: str, single: bool) -> Any:
        return curve_view.figure(store, Choice(group or "", kind, category), metric, single)

    @plainly
    def table(metric: str, group: str, kind: str, category: str) -> str:
        rows = curve_view.rows(store, Choice(group or "", kind, category), metric)
        path = Path(tempfile.mkdtemp(prefix="convergebench-")) / f"{metric.replace(' ', '_')}.csv"
        path.write_text(curve_view.as_csv(rows), encoding="utf-8")
        return str(path)

    inputs = [metric, group, kind, category, single]
    about = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 4}
    gr.on([tab.select, *(each.input for each in inputs)], draw, inputs, plot, **about)
    gr.on([tab.select, *(each.input for each in inputs)], table, inputs[:-1], save, **about)
