"""A page to try NIQE on a picture."""

from pathlib import Path

import gradio as gr
from convergebench.metric_modules._shared.no_reference_page import page

demo = page(
    Path(__file__).with_name("niqe.py"),
    "NIQE",
    "How far is a picture from undamaged photographs? There is no reference.",
)

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
