"""A page to try BRISQUE on a picture."""

from pathlib import Path

import gradio as gr
from convergebench.metric_modules._shared.no_reference_page import page

demo = page(
    Path(__file__).with_name("brisque.py"),
    "BRISQUE",
    "A score of visible damage that was learned from the opinions of people, without a reference.",
)

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
