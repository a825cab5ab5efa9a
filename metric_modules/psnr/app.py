"""A page to try PSNR on two pictures."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("psnr.py")))
SIZES = [("they have one size", ""), ("bring the answer to the original's size", "reference")]


def measure(original: str | None, answer: str | None, size: str) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    if original is None or answer is None:
        raise gr.Error("give two pictures")
    try:
        result = METRIC.compute(predictions=[answer], references=[original], size=size or None)
    except ValueError as error:
        raise gr.Error(str(error)) from error
    return f"## PSNR {result['psnr']:.2f} dB, RMSE {result['rmse']:.2f} grey levels", result


with gr.Blocks(title="PSNR") as demo:
    gr.Markdown("# PSNR\nHow far are the answer's pixels from the original's?")
    with gr.Row():
        # Paths, in the mode the file has: the metric reads the bytes as they were uploaded.
        original = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Original")
        answer = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Answer")
    with gr.Row():
        size = gr.Dropdown(SIZES, value="reference", label="Sizes")
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    button.click(measure, [original, answer, size], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
