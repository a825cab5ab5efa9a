"""A page to try Friedman's test on scores typed in by hand."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("stability.py")))

EXAMPLE = """0.671 0.668 0.673
0.702 0.699 0.705
0.588 0.594 0.591
0.640 0.633 0.645
0.719 0.716 0.721
0.655 0.660 0.663"""


def parse(text: str) -> list[list[float | None]]:
    """One list of numbers a line; - where there is none."""
    return [
        [None if word == "-" else float(word) for word in line.split()] for line in text.splitlines() if line.strip()
    ]


def measure(text: str) -> tuple[str, dict]:
    """The verdict in words, and everything the metric gives."""
    try:
        result = METRIC.compute(predictions=parse(text))
    except ValueError as error:
        raise gr.Error(str(error)) from error
    verdict = "The runs differ" if result["differ"] else "The runs do not differ by more than chance"
    return f"## {verdict} (p = {result['p_permutation']:.3f})", result


with gr.Blocks(title="Stability") as demo:
    gr.Markdown("# Stability\nDo repeated runs of one editor differ by more than chance?")
    with gr.Row():
        with gr.Column():
            table = gr.Textbox(EXAMPLE, lines=8, label="Scores", info="One image a line, one value per run.")
            button = gr.Button("Measure", variant="primary")
        with gr.Column():
            headline = gr.Markdown()
            everything = gr.JSON(label="Everything")
    button.click(measure, table, [headline, everything])
    demo.load(measure, table, [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
