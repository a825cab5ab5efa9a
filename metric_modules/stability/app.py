"""A page to try Friedman's test on scores typed in by hand."""

import gradio as gr
from convergebench.metric_modules._shared.page import launch, numbers, page

_EXAMPLE = """0.671 0.668 0.673
0.702 0.699 0.705
0.588 0.594 0.591
0.640 0.633 0.645
0.719 0.716 0.721
0.655 0.660 0.663"""


def headline(result: dict) -> str:
    """The verdict in words."""
    verdict = "The runs differ" if result["differ"] else "The runs do not differ by more than chance"
    return f"## {verdict} (p = {result['p_permutation']:.3f})"


demo = page(
    __file__,
    "stability",
    "Stability",
    "Do repeated runs of one editor differ by more than chance?",
    [gr.Textbox(_EXAMPLE, lines=8, label="Scores", info="One image a line, one value per run.", render=False)],
    lambda metric, table: metric.compute(predictions=numbers(table)),
    headline,
)

if __name__ == "__main__":
    launch(demo)
