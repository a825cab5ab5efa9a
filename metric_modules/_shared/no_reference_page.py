"""The page on which a metric that judges a picture on its own is tried."""

from pathlib import Path

import evaluate
import gradio as gr


def page(module: Path, title: str, about: str, digits: int = 2) -> gr.Blocks:
    """The page of the `evaluate` module in this file."""
    metric = evaluate.load(str(module))

    def measure(picture: str | None) -> tuple[str, dict]:
        """The headline in words, and everything the metric gives."""
        if picture is None:
            raise gr.Error("Give a picture.")
        try:
            result = metric.compute(predictions=[picture])
        except (ValueError, FileNotFoundError) as error:
            raise gr.Error(str(error)) from error
        return f"## {title} {result[module.stem]:.{digits}f}, lower is better", result

    with gr.Blocks(title=title) as demo:
        gr.Markdown(f"# {title}\n{about}")
        # A path, in the mode the file has: the metric reads the bytes as they were uploaded.
        picture = gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label="Picture")
        button = gr.Button("Measure", variant="primary")
        headline = gr.Markdown()
        everything = gr.JSON(label="Everything")
        button.click(measure, [picture], [headline, everything])
    return demo
