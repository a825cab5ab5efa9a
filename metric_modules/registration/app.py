"""A page to try registration on two pictures of one's own."""

from pathlib import Path

import evaluate
import gradio as gr
import numpy as np

METRIC = evaluate.load(str(Path(__file__).with_name("registration.py")))

Picture = str | None  # a path: the metric reads the bytes as they were uploaded, by its own list of formats


def example() -> tuple[np.ndarray, np.ndarray]:
    """A picture of soft coloured patches, and the same moved by nine pixels to the right and four up."""
    patches = np.random.default_rng(7).uniform(30, 225, (48, 48, 3))
    picture = np.kron(patches, np.ones((8, 8, 1)))
    soft = np.mean([np.roll(picture, (down, right), (0, 1)) for down in range(-3, 4) for right in range(-3, 4)], axis=0)
    return soft.astype(np.uint8), np.roll(soft, (-4, 9), (0, 1)).astype(np.uint8)


def measure(reference: Picture, prediction: Picture) -> tuple[str, dict]:
    """Shift and scale in words, and everything the metric gives."""
    if reference is None or prediction is None:
        raise gr.Error("Give two pictures: the reference, and the one that may have moved.")
    try:
        result = METRIC.compute(references=[reference], predictions=[prediction], size="reference")
    except ValueError as error:
        raise gr.Error(str(error)) from error
    if result["scale"] is None:
        return f"## No move can be told: {result['reasons'][0]['scale']}", result
    across, down = result["shift_x"], result["shift_y"]
    move = (
        f"{abs(across):.1f} px {'right' if across > 0 else 'left'}, {abs(down):.1f} px {'down' if down > 0 else 'up'}"
    )
    return f"## Moved {move}, scale {result['scale']:.4f}; moved back, PSNR is {result['psnr']:.1f} dB", result


with gr.Blocks(title="Registration") as demo:
    gr.Markdown("# Registration\nHow far has a picture moved, and how near is it to its reference once moved back?")
    with gr.Row():
        pictures = [
            gr.Image(type="filepath", image_mode=None, format="png", label=label)
            for label in ("Reference", "Prediction")
        ]
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    button.click(measure, pictures, [headline, everything])
    demo.load(example, None, pictures).then(measure, pictures, [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
