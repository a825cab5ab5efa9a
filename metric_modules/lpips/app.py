"""A page to try LPIPS on two pictures."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("lpips.py")))
SIZES = [("they have one size", ""), ("bring the answer to the original's size", "reference")]


def measure(original: str | None, answer: str | None, size: str, net: str) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    if original is None or answer is None:
        raise gr.Error("give two pictures")
    gr.Info("The network's weights are fetched once; this takes a minute.")
    try:
        METRIC.fetch_weights(net)
        result = METRIC.compute(predictions=[answer], references=[original], size=size or None, net=net)
    except (ValueError, OSError) as error:
        raise gr.Error(str(error)) from error
    return f"## LPIPS {result['lpips']:.4f}, worst tile {result['lpips_worst_tile']:.4f}", result


with gr.Blocks(title="LPIPS") as demo:
    gr.Markdown("# LPIPS\nHow different does the answer look, as a whole and in its worst place?")
    with gr.Row():
        # Paths, in the mode the file has: the metric reads the bytes as they were uploaded.
        original = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Original")
        answer = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Answer")
    with gr.Row():
        size = gr.Dropdown(SIZES, value="reference", label="Sizes")
        net = gr.Dropdown(["alex", "vgg"], value="alex", label="Network")
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    button.click(measure, [original, answer, size, net], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
