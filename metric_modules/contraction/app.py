"""A page to try contraction on distances typed in by hand."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("contraction.py")))

MSE = """9.0 21.2 31.9 40.1 46.0 50.2 53.0 55.0 56.3 57.2 57.8 58.2
7.3 18.1 28.8 37.0 43.5 48.1 51.2 53.4 54.9 56.0 56.7 57.2"""
STEPS = """3.0 1.7 1.1 0.7 0.45 0.30 0.20 0.13 0.09 0.06 0.04 0.027
2.7 1.6 1.1 0.72 0.50 0.34 0.22 0.15 0.10 0.07 0.05 0.033"""


def parse(text: str) -> list[list[float | None]]:
    """One list of numbers a line; - where there is none."""
    return [
        [None if word == "-" else float(word) for word in line.split()] for line in text.splitlines() if line.strip()
    ]


def measure(mse: str, steps: str) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    try:
        result = METRIC.compute(predictions=parse(mse), steps=parse(steps) or None)
    except ValueError as error:
        raise gr.Error(str(error)) from error
    q = "q is not known" if result["q"] is None else f"q = {result['q']:.2f}"
    power = "" if result["growth_exponent"] is None else f", MSE grows as n^{result['growth_exponent']:.2f}"
    return f"## {q}{power}, shape: {result['shape'] or 'not known'}", result


with gr.Blocks(title="Contraction") as demo:
    gr.Markdown("# Contraction\nDoes every round move the picture less than the one before?")
    with gr.Row():
        with gr.Column():
            mse = gr.Textbox(MSE, lines=4, label="MSE against the reference, one chain a line")
            steps = gr.Textbox(STEPS, lines=4, label="RMSE to the return before, one chain a line")
            button = gr.Button("Measure", variant="primary")
        with gr.Column():
            headline = gr.Markdown()
            everything = gr.JSON(label="Everything")
    button.click(measure, [mse, steps], [headline, everything])
    demo.load(measure, [mse, steps], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
