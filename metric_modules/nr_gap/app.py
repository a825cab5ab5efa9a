"""A page to try the normalised score gap on scores typed in by hand."""

import evaluate
import gradio as gr
from convergebench.metric_modules._shared.page import launch, numbers, page

_EXAMPLE = """BRISQUE fog 34.1 20.2 4.5 -9.8
MUSIQ fog 71.2 66.0 58.3 49.9
NIQE fog 3.1 3.4 3.0 4.2
BRISQUE holi 18.0 22.4 31.5 40.2"""


def compute(metric: evaluate.Metric, text: str, clamp: bool) -> dict:
    """A line names its metric and image, then its scores."""
    rows = [line.split(maxsplit=2) for line in text.splitlines() if line.strip()]
    scores = [numbers(" ".join(row[2:]))[0] if row[2:] else [] for row in rows]
    images = [" ".join(row[1:2]) for row in rows]
    return metric.compute(predictions=scores, metrics=[row[0] for row in rows], images=images, clamp=clamp)


def headline(result: dict) -> str:
    """The gaps as a table."""
    lines = ["| metric | image | step | gap | |", "|---|---|---:|---:|---|"]
    for row in result["gaps"]:
        gap = row["gap"]
        cells = ("", "") if gap is None else (f"{gap:+.1f}", "sees the damage" if gap < 0 else "misses it")
        lines.append(f"| {row['metric']} | {row['image']} | {row['step']} | {' | '.join(cells)} |")
    return "\n".join(lines)


demo = page(
    __file__,
    "nr_gap",
    "Normalised score gap",
    "The picture gets worse at every step. Does the metric see it?",
    [
        gr.Textbox(
            _EXAMPLE,
            lines=8,
            label="Scores",
            info="Metric, image, then its scores at steps 1, 5, 10 and 20.",
            render=False,
        ),
        gr.Checkbox(False, label="Bring scores outside the typical range to its ends", render=False),
    ],
    compute,
    headline,
)

if __name__ == "__main__":
    launch(demo)
