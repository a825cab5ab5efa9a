"""A page to try SSIM on two pictures."""

import gradio as gr
from convergebench.metric_modules._shared.page import launch, pair_page

demo = pair_page(
    __file__,
    "ssim",
    "SSIM",
    "How much of the original's local structure is in the answer?",
    lambda result: f"## SSIM {result['ssim']:.4f}",
    {"window": gr.Dropdown(["gaussian", "uniform7"], value="gaussian", label="Window", render=False)},
)

if __name__ == "__main__":
    launch(demo)
