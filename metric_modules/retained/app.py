"""A page to try retained quality on values typed in by hand."""

import evaluate
import gradio as gr
from convergebench.metric_modules._shared.page import launch, numbers, page


def compute(metric: evaluate.Metric, text: str, name: str, floor: float) -> dict:
    """All values share one reference."""
    values = numbers(" ".join(text.split()))[0] if text.strip() else []
    floors = {"reference": {name: floor}}
    return metric.compute(predictions=values, references=["reference"] * len(values), metric=name, floors=floors)


def headline(result: dict) -> str:
    """The mean in words."""
    return "## Nothing to measure" if result["mean"] is None else f"## {result['mean']:.0%} retained on average"


demo = page(
    __file__,
    "retained",
    "Retained quality",
    "1 = untouched, 0 = as far from the original as an unrelated picture.",
    [
        gr.Textbox("0.05 0.12 0.21 0.33 0.48", lines=3, label="Values, one per picture, - for none", render=False),
        gr.Radio(["rmse", "ssim", "lpips", "clip"], value="lpips", label="Metric", render=False),
        gr.Number(0.74, label="Floor: what an unrelated picture scores", render=False),
    ],
    compute,
    headline,
)

if __name__ == "__main__":
    launch(demo)
