"""The tab in which a visitor's own series is scored beside the editors of the dataset; nothing of it is stored."""

import base64
import binascii
import html
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from convergebench.generation.records import UserError
from convergebench.metric_modules.specs import score_columns

from ..palette import INK
from ..study.tables import Column
from . import curves_tab, page, score_yours
from .errors import explain_errors
from .leaderboard import Choice, leaderboard
from .leaderboard_tab import cell, heading
from .previews import decode
from .served_dataset import ServedDataset

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

NOTE = (
    "Upload the original and the picture after each undo (round1.png, round2.png, ...), or one zip of them. Up to "
    f"{score_yours.MOST_RETURNS} pictures, {score_yours.MOST_FILE_BYTES // 10**6} MB a file, "
    f"{score_yours.MOST_SECONDS:.0f} seconds. They are compared at a short side of {score_yours.SHORT_SIDE} pixels; "
    "0% is how different unrelated pictures of this dataset are. Your files are deleted as soon as they are scored."
)
MOST_EDITORS = 8  # named in comparison


class Scorer:
    """Scores series, one at a time; the floors come from the dataset's own pictures."""

    def __init__(self, dataset: ServedDataset):
        self.dataset = dataset
        self.busy = threading.Lock()

    def score(
        self, original: tuple[str, bytes] | None, files: Sequence[tuple[str, bytes]], threshold: float
    ) -> score_yours.SeriesScore:
        """Without an `original`, the first file by name is taken for it."""
        returns = score_yours.read_series(files)
        if original is None:
            if len(returns) < 2:
                raise UserError("one picture alone tells nothing; give an original and what came back")
            original, *returns = returns
        with self.busy:
            return score_yours.score(original, returns, self.unrelated, threshold, self.lpips)

    @cached_property
    def lpips(self) -> Any:
        return score_yours.load_lpips()

    @cached_property
    def unrelated(self) -> list[np.ndarray]:
        """The dataset's source pictures, small enough to be kept in memory."""
        found: list[np.ndarray] = []
        for row in self.dataset.reader.rows("sources", ["image"]):
            if row["image"] and row["image"]["bytes"] and len(found) < score_yours.UNRELATED:
                picture = decode(row["image"]["bytes"])
                picture.thumbnail((1024, 1024))
                found.append(np.asarray(picture))
        return found


def score_yours_tab(dataset: ServedDataset) -> Scorer:
    import gradio as gr

    scorer = Scorer(dataset)
    page.note(NOTE)
    with gr.Row(elem_classes="cb-filters"):
        original = gr.File(label="Original", type="filepath", height=150, elem_id="original")
        files = gr.File(
            label="After each undo, or a zip", file_count="multiple", type="filepath", height=150, elem_id="returns"
        )
        with gr.Column(min_width=220):
            threshold = gr.Slider(0.05, 0.95, 0.5, step=0.05, label="Failure threshold")
            button = gr.Button("Score", variant="primary")
    answer = gr.HTML(apply_default_css=False, elem_id="answer")
    plot = gr.Plot(show_label=False, visible=False)

    def score(original: str | None, files: list[str] | None, threshold: float) -> list[Any]:
        try:
            if not files:
                raise UserError("no returns were given; add the pictures that came back, or one zip of them")
            refuse_too_much([original, *files] if original else files)
            first = named_bytes(original) if original else None
            found = scorer.score(first, [named_bytes(path) for path in files], threshold)
            return [answer_html(dataset, found, threshold), gr.Plot(figure(dataset, found), visible=True), None, None]
        except UserError as error:
            return [error_box(str(error)), gr.Plot(visible=False), None, None]
        finally:
            remove_uploads([original, *(files or [])])

    button.click(
        explain_errors(score),
        [original, files, threshold],
        [answer, plot, original, files],
        api_visibility="private",
        concurrency_limit=2,
    )
    return scorer


def refuse_too_much(paths: Sequence[str]) -> None:
    """Raise, before anything is read, where the files are more than is scored at once."""
    if sum(Path(path).stat().st_size for path in paths) > score_yours.MOST_BYTES:
        raise UserError(
            f"the files have more than {score_yours.MOST_BYTES:,} bytes together; give fewer or smaller ones"
        )


def remove_uploads(paths: Sequence[str | None]) -> None:
    """Delete what a visitor uploaded, and nothing else that his request may have named, such as a cached preview."""
    from gradio.utils import get_upload_folder

    uploads = Path(get_upload_folder()).resolve()
    for path in [Path(path).resolve() for path in paths if path]:
        if path.is_relative_to(uploads):
            path.unlink(missing_ok=True)


def named_bytes(path: str) -> tuple[str, bytes]:
    return Path(path).name, Path(path).read_bytes()


def error_box(words: str) -> str:
    return f'<div class="cb-error" role="alert">{html.escape(words)}</div>'


def answer_html(dataset: ServedDataset, found: score_yours.SeriesScore, threshold: float) -> str:
    """The half-life beside those of the editors, and the numbers of every return."""
    measured = [
        Column(column.name, f"{column.title}, {column.unit}" if column.unit else column.title, "number")
        for column in score_columns().values()
        if column.name in found.rows[0]
    ]
    columns = [
        Column("round", "Round", "count"),
        Column("name", "File"),
        *measured,
        Column("quality", "Retained", "share"),
    ]
    return page.render(
        "score_yours.html",
        half_life=found.half_lives.get("quality", "–"),
        threshold=threshold,
        absent={score_columns()[name].title: reason for name, reason in found.absent.items()},
        editors=leaderboard(dataset, Choice(metric="quality", threshold=threshold)).table.rows[:MOST_EDITORS],
        columns=[heading(column) for column in columns],
        lines=[[cell(row, column) for column in columns] for row in found.rows],
    )


def figure(dataset: ServedDataset, found: score_yours.SeriesScore) -> "Figure":
    """The visitor's curve over those of the editors."""
    import plotly.graph_objects as go

    plot = curves_tab.figure(dataset, Choice(), "quality")
    rounds, values = [row["round"] for row in found.rows], [row["quality"] for row in found.rows]
    line = {"color": INK.light, "width": 4}
    return plot.add_trace(go.Scatter(x=rounds, y=values, name="yours", mode="lines+markers", line=line))


def endpoint(scorer: Scorer) -> Callable:
    """Scoring for programs: pictures as base64, so that no path of this server is ever named."""

    def score_yours(original: str, returns: list[str], threshold: float = 0.5) -> dict:
        """An original and its returns in order, each a picture file in base64: distances, retained, half-lives."""
        try:
            first, *others = [base64.b64decode(each, validate=True) for each in (original, *returns)]
        except (binascii.Error, ValueError, TypeError) as error:
            raise UserError(f"original and returns are picture files in base64 ({error})") from None
        named = [(f"return {number:03d}", data) for number, data in enumerate(others, 1)]
        found = scorer.score(("original", first), named, float(threshold))
        return {
            "half_lives": found.half_lives,
            "returns": found.rows,
            "floors": found.floors,
            "absent": found.absent,
            "compared_at": f"{found.size[0]}x{found.size[1]}",
        }

    return score_yours
