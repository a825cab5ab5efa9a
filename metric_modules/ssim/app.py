"""A page to try SSIM on two pictures."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("ssim.py")))
SIZES = [("they have one size", ""), ("bring the answer to the original's size", "reference")]


def measure(original: str | None, answer: str | None, size: str, window: str) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    if original is None or answer is None:
        raise gr.Error("give two pictures")
    try:
        result = METRIC.compute(predictions=[answer], references=[original], size=size or None, window=window)
    except ValueError as error:
        raise gr.Error(str(error)) from error
    return f"## SSIM {result['ssim']:.4f}", result


with gr.Blocks(title="SSIM") as demo:
    gr.Markdown("# SSIM\nHow much of the original's local structure is in the answer?")
    with gr.Row():
        # Paths, in the mode the file has: the metric reads the bytes as they were uploaded.
        original = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Original")
        answer = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Answer")
    with gr.Row():
        size = gr.Dropdown(SIZES, value="reference", label="Sizes")
        window = gr.Dropdown(["gaussian", "uniform7"], value="gaussian", label="Window")
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    button.click(measure, [original, answer, size, window], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
