"""A page to try edit_applied on three pictures of one's own."""

from pathlib import Path

import evaluate
import gradio as gr
import numpy as np

METRIC = evaluate.load(str(Path(__file__).with_name("edit_applied.py")))

Picture = str | None  # a path: the metric reads the bytes as they were uploaded, by its own list of formats


def example() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A plain picture, one with a red ball, and one from which the ball was painted out."""
    rows, columns = np.mgrid[:384, :384]
    before = np.stack([rows // 3 + 60, columns // 3 + 60, (rows + columns) // 6 + 60], axis=2).astype(np.uint8)
    ball = (rows - 240) ** 2 + (columns - 150) ** 2 < 2500
    forward, back = before.copy(), before.copy()
    forward[ball] = (214, 40, 57)
    back[ball] = before[ball] + 6
    return before, forward, back


def measure(before: Picture, forward: Picture, back: Picture, first: str, second: str, small: bool) -> tuple[str, dict]:
    """The two answers in words, and everything the metric gives."""
    if before is None or forward is None or back is None:
        raise gr.Error("Give all three pictures: before, after the edit, and after taking it back.")
    try:
        result = METRIC.compute(
            references=[before], predictions=[forward], returns=[back], cycle=[first, second], small=small
        )
    except ValueError as error:
        raise gr.Error(str(error)) from error
    words = {1.0: "yes", 0.0: "no", None: "cannot be said"}
    return f"## Applied: {words[result['applied']]} · Undone: {words[result['undone']]}", result


with gr.Blocks(title="Edit applied") as demo:
    gr.Markdown("# Edit applied\nDid an image edit happen, and was it taken back?")
    with gr.Row():
        pictures = [
            gr.Image(type="filepath", image_mode=None, format="png", label=label)
            for label in ("Before", "Edited", "Back again")
        ]
    with gr.Row():
        first = gr.Textbox("add a red ball", label="First instruction", info="Flips and rotations are recognised.")
        second = gr.Textbox("remove the red ball", label="Second instruction")
        small = gr.Checkbox(label="Small change", info="Such as glasses: 0.1% of the picture is enough.")
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    inputs = [*pictures, first, second, small]
    button.click(measure, inputs, [headline, everything])
    demo.load(example, None, pictures).then(measure, inputs, [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
