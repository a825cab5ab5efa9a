"""A page to try CLIP similarity on two pictures."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("clip_similarity.py")))
SIZES = [("they have one size", ""), ("bring the answer to the original's size", "reference")]


def headline_of(result: dict) -> str:
    """The number, or why there is none."""
    if result["clip_similarity"] is None:
        return f"## not computed\n{result['reason']}"
    return f"## CLIP similarity {result['clip_similarity']:.4f}"


def measure(original: str | None, answer: str | None, size: str, checkpoint: str) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    if original is None or answer is None:
        raise gr.Error("give two pictures")
    try:
        result = METRIC.compute(predictions=[answer], references=[original], size=size or None, checkpoint=checkpoint)
    except ValueError as error:
        raise gr.Error(str(error)) from error
    return headline_of(result), result


with gr.Blocks(title="CLIP similarity") as demo:
    gr.Markdown("# CLIP similarity\nDoes the answer still show what the original shows?")
    with gr.Row():
        # Paths, in the mode the file has: the metric reads the bytes as they were uploaded.
        original = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Original")
        answer = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Answer")
    with gr.Row():
        size = gr.Dropdown(SIZES, value="reference", label="Sizes")
        checkpoint = gr.Textbox("openai/clip-vit-large-patch14", label="Model")
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    button.click(measure, [original, answer, size, checkpoint], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
