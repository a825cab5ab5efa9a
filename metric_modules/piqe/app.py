"""A page to try PIQE on a picture."""

from pathlib import Path

import gradio as gr
from convergebench.metric_modules._shared.no_reference_page import page

demo = page(
    Path(__file__).with_name("piqe.py"),
    "PIQE",
    "The share of a picture's busy blocks that are visibly impaired or noisy, without a reference.",
)

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
