"""A page to try ILNIQE on a picture."""

from pathlib import Path

import gradio as gr
from convergebench.metric_modules._shared.no_reference_page import page

demo = page(
    Path(__file__).with_name("ilniqe.py"),
    "ILNIQE",
    "How far is a picture from undamaged photographs, in contrast, edges and colours? There is no reference.",
)

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
