"""A page to try half-life on curves typed in by hand."""

import evaluate
import gradio as gr
from convergebench.metric_modules._shared.page import launch, numbers, page

_EXAMPLE = """photo 1: 0.97 0.93 0.88 0.80 0.71 0.63 0.56 0.51 0.47 0.44 0.41 0.39
photo 1: 0.95 0.90 0.84 0.79 0.72 0.66 0.60 0.57 0.53 0.52 0.51 0.51
photo 2: 0.96 0.88 0.75 0.61 0.48 0.37 0.30 0.26 0.22 0.20 0.19 0.18
photo 3: 0.98 0.94 0.90 - 0.81 0.77 0.74 0.71 0.69 0.66 0.64 0.62
photo 3: 0.94 0.87 0.73 0.60 refused"""


def compute(metric: evaluate.Metric, text: str, scale: str, threshold: float, better: str) -> dict:
    """A line such as `photo 1: 0.9 - 0.7 refused` names its source, the values, and how the chain ended."""
    curves, sources, ends = [], [], []
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        source, _, values = line.rpartition(":")
        words = values.split()
        ends.append(words.pop() if words and words[-1].isalpha() else "complete")
        try:
            curves.append(numbers(" ".join(words))[0] if words else [])
        except ValueError as error:
            raise ValueError(
                f"line {number}: {error}; write a source, a colon, and a number or - for each round"
            ) from None
        sources.append(source.strip() or f"line {number}")
    return metric.compute(
        predictions=curves, clusters=sources, ends=ends, scale=scale, threshold=threshold, better=better
    )


def headline(result: dict) -> str:
    """The half-life with its interval."""
    limits = result["half_life_interval"]
    interval = "" if limits is None else f" (95% interval {limits[0]} to {limits[1] or 'past the end'})"
    return f"## Half-life: {result['half_life_text']}{interval}"


demo = page(
    __file__,
    "halflife",
    "Half-life",
    "After how many rounds of editing is half of the chains past the threshold?",
    [
        gr.Textbox(
            _EXAMPLE,
            lines=8,
            label="Curves",
            info="One chain a line: its source, a colon, one value per round, - for a missing one; "
            "refused, shrunk, no_image or failed if it ended early.",
            render=False,
        ),
        gr.Radio(["retained", "absolute"], value="retained", label="Scale", render=False),
        gr.Number(0.5, label="Threshold", render=False),
        gr.Radio(["higher", "lower"], value="higher", label="Better is", render=False),
    ],
    compute,
    headline,
)

if __name__ == "__main__":
    launch(demo)
