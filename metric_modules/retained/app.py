"""A page to try retained quality on values typed in by hand."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("retained.py")))


def measure(text: str, metric: str, floor: float) -> tuple[str, dict]:
    """The mean in words, and everything the metric gives."""
    try:
        values = [None if word == "-" else float(word) for word in text.split()]
        floors = {"reference": {metric: floor}}
        references = ["reference"] * len(values)
        result = METRIC.compute(predictions=values, references=references, metric=metric, floors=floors)
    except (TypeError, ValueError) as error:
        raise gr.Error(str(error)) from error
    mean = result["mean"]
    return "## Nothing to measure" if mean is None else f"## {mean:.0%} retained on average", result


with gr.Blocks(title="Retained quality") as demo:
    gr.Markdown("# Retained quality\n1 = untouched, 0 = as far from the original as an unrelated picture.")
    with gr.Row():
        with gr.Column():
            values = gr.Textbox("0.05 0.12 0.21 0.33 0.48", lines=3, label="Values, one per picture, - for none")
            metric = gr.Radio(["rmse", "ssim", "lpips", "clip"], value="lpips", label="Metric")
            floor = gr.Number(0.74, label="Floor: what an unrelated picture scores")
            button = gr.Button("Measure", variant="primary")
        with gr.Column():
            headline = gr.Markdown()
            everything = gr.JSON(label="Everything")
    button.click(measure, [values, metric, floor], [headline, everything])
    demo.load(measure, [values, metric, floor], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
