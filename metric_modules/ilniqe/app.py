"""A page to try ILNIQE on a picture."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("ilniqe.py")))


def measure(picture: str | None) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    if picture is None:
        raise gr.Error("give a picture")
    try:
        result = METRIC.compute(predictions=[picture])
    except (ValueError, FileNotFoundError) as error:
        raise gr.Error(str(error)) from error
    return f"## ILNIQE {result['ilniqe']:.2f}, lower is better", result


with gr.Blocks(title="ILNIQE") as demo:
    gr.Markdown(
        "# ILNIQE\nHow far is a picture from undamaged photographs, in contrast, edges and colours? "
        "There is no reference."
    )
    # A path, in the mode the file has: the metric reads the bytes as they were uploaded.
    picture = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Picture")
    button = gr.Button("Measure", variant="primary")
    headline = gr.Markdown()
    everything = gr.JSON(label="Everything")
    button.click(measure, [picture], [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
