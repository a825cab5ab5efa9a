"""The tab in which a visitor's own series is scored beside the editors of the dataset; nothing of it is kept."""

import base64
import binascii
import html
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from ..palette import INK
from ..reporting import load
from ..statistics.table import Column
from . import board, curve_view, yours
from .answers import plainly
from .board import Choice
from .previews import Unseen, decoded
from .store import Store, Unknown

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

NOTE = (
    "Bring an original and what came back, round after round, in the order of the file names (or one zip of "
    f"them). Up to {yours.RETURNS} returns, {yours.FILE // 10**6} MB a file, {yours.SECONDS:.0f} seconds. They are "
    f"compared at a short side of {yours.SHORT_SIDE} pixels, with the floors of this dataset's own pictures, and "
    "deleted as soon as they are scored."
)
TITLES = {"rmse": "RMSE", "ssim": "SSIM", "lpips": "LPIPS", "psnr": "PSNR, dB"}


class Scorer:
    """Scores series, one at a time, with the dataset's pictures as strangers."""

    def __init__(self, store: Store):
        self.store = store
        self.busy = threading.Lock()
        self.strangers = lru_cache(maxsize=1)(self._strangers)
        self.lpips = lru_cache(maxsize=1)(yours.lpips_here)

    def score(
        self, original: tuple[str, bytes] | None, files: Sequence[tuple[str, bytes]], threshold: float
    ) -> yours.Scored:
        """Without an original of its own, the first by name is it."""
        found = yours.series(files)
        if original is None:
            if len(found) < 2:
                raise yours.Refused("one picture alone tells nothing; give an original and what came back")
            original, found = found[0], found[1:]
        with self.busy:
            return yours.score(original, found, self.strangers(), threshold, self.lpips())

    def _strangers(self) -> list[np.ndarray]:
        """The dataset's pictures, small enough to be kept in memory."""
        found: list[np.ndarray] = []
        for path in load.files(self.store.folder, "sources"):
            with pq.ParquetFile(path) as opened:
                for group in range(opened.num_row_groups):
                    for value in opened.read_row_group(group, columns=["image"])["image"].to_pylist():
                        if value and value["bytes"] and len(found) < yours.STRANGERS:
                            picture = decoded(value["bytes"])
                            picture.thumbnail((1024, 1024))
                            found.append(np.asarray(picture))
        return found


def told(scored: yours.Scored) -> dict[str, Any]:
    """As the API answers."""
    return {
        "half_lives": scored.half_lives,
        "returns": scored.rows,
        "floors": scored.floors,
        "absent": scored.absent,
        "compared_at": f"{scored.size[0]}x{scored.size[1]}",
    }


def yours_tab(store: Store) -> Scorer:
    import gradio as gr

    scorer = Scorer(store)
    gr.HTML(f'<p class="cb-note">{NOTE}</p>', apply_default_css=False)
    with gr.Row(elem_classes="cb-filters"):
        original = gr.File(label="Original", type="filepath", height=150, elem_id="original")
        files = gr.File(
            label="Returns, or a zip", file_count="multiple", type="filepath", height=150, elem_id="returns"
        )
        with gr.Column(min_width=220):
            threshold = gr.Slider(0.05, 0.95, 0.5, step=0.05, label="Lost below")
            button = gr.Button("Score", variant="primary")
    answer = gr.HTML(apply_default_css=False, elem_id="answer")
    plot = gr.Plot(show_label=False, visible=False)

    def ask(original: str | None, files: list[str] | None, threshold: float) -> list[Any]:
        paths = [Path(path) for path in [*([original] if original else []), *(files or [])]]
        try:
            return scored(original, files, threshold)
        except (yours.Refused, Unseen) as error:
            return [box(str(error)), gr.Plot(visible=False), None, None]
        finally:
            for path in paths:
                path.unlink(missing_ok=True)

    def scored(original: str | None, files: list[str] | None, threshold: float) -> list[Any]:
        if not files:
            raise yours.Refused("no returns were given; add the pictures that came back, or one zip of them")
        first = (Path(original).name, Path(original).read_bytes()) if original else None
        found = scorer.score(first, [(Path(path).name, Path(path).read_bytes()) for path in files], threshold)
        drawn = figure(store, found)
        return [page(store, found, threshold), gr.Plot(drawn, visible=True), None, None]

    button.click(
        plainly(ask),
        [original, files, threshold],
        [answer, plot, original, files],
        api_visibility="private",
        concurrency_limit=2,
    )
    return scorer


def box(words: str) -> str:
    return f'<div class="cb-error" role="alert">{html.escape(words)}</div>'


def page(store: Store, found: yours.Scored, threshold: float) -> str:
    """The half-life beside those of the editors, and the numbers of every return."""
    lasted = found.half_lives.get("quality", "–")
    editors = board.board(store, Choice(metric="quality", threshold=threshold)).table.rows
    others = "".join(
        f"<li><b>{html.escape(row['editor'])}</b>: {html.escape(row['half_life_text'])} of {row['last_round']}</li>"
        for row in editors[:8]
    )
    return (
        f'<div class="cb-two"><div><h3>Quality half-life: round {html.escape(lasted)}</h3><p class="cb-note">The first '
        f"return that retains less than {threshold:g} by its lowest metric; one series is an indication, not a "
        f"measurement. {absent(found)}</p></div><div><h3>Beside it, in this dataset</h3><ul>{others}</ul></div></div>"
        f"{numbers(found)}"
    )


def absent(found: yours.Scored) -> str:
    return " ".join(f"No {TITLES[name]}: {html.escape(reason)}." for name, reason in found.absent.items())


def numbers(found: yours.Scored) -> str:
    from .board_html import cell, heading

    kinds = [name for name in ("psnr", "rmse", "ssim", "lpips") if name in found.rows[0]]
    measured = [Column(name, TITLES[name], "number") for name in kinds]
    columns = [Column("round", "Return", "count"), Column("name", "File"), *measured]
    columns.append(Column("quality", "Retained", "share"))
    head = "".join(heading(column) for column in columns)
    rows = "".join(f"<tr>{''.join(cell(row, column) for column in columns)}</tr>" for row in found.rows)
    table = f'<table class="cb-board"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="cb-scroll">{table}</div>'


def figure(store: Store, found: yours.Scored) -> "Figure":
    """The visitor's curve over those of the editors."""
    import plotly.graph_objects as go

    drawn = curve_view.figure(store, Choice(), "quality")
    values = [row["quality"] for row in found.rows]
    line = {"color": INK.light, "width": 4}
    drawn.add_trace(
        go.Scatter(x=[row["round"] for row in found.rows], y=values, name="yours", mode="lines+markers", line=line)
    )
    return drawn


def endpoint(scorer: Scorer) -> Any:
    """Scoring for programs: pictures as base64, so that no path of this server is ever named."""

    def score_yours(original: str, returns: list[str], threshold: float = 0.5) -> dict:
        """An original and its returns in order, each a picture file in base64: distances, retained, half-lives."""
        try:
            pictures = [base64.b64decode(each, validate=True) for each in (original, *returns)]
        except (binascii.Error, ValueError, TypeError) as error:
            raise Unknown(f"original and returns are picture files in base64 ({error})") from None
        named = [(f"return {number:03d}", data) for number, data in enumerate(pictures[1:], 1)]
        try:
            return told(scorer.score(("original", pictures[0]), named, float(threshold)))
        except (yours.Refused, Unseen) as error:
            raise Unknown(str(error)) from error

    return score_yours
