"""A page to try LPIPS on two pictures."""

import evaluate
import gradio as gr
from convergebench.metric_modules._shared.page import SIZES, launch, page, picture


def compute(metric: evaluate.Metric, original: str, answer: str, size: str, net: str) -> dict:
    """Fetch the network's weights if they are not here, then measure."""
    metric.fetch_weights(net)
    return metric.compute(predictions=[answer], references=[original], size=size or None, net=net)


demo = page(
    __file__,
    "lpips",
    "LPIPS",
    "How different does the answer look, as a whole and in its worst place? A network's weights are fetched once.",
    [
        picture("Original"),
        picture("Answer"),
        gr.Dropdown(SIZES, value="reference", label="Sizes", render=False),
        gr.Dropdown(["alex", "vgg"], value="alex", label="Network", render=False),
    ],
    compute,
    lambda result: f"## LPIPS {result['lpips']:.4f}, worst tile {result['lpips_worst_tile']:.4f}",
)

if __name__ == "__main__":
    launch(demo)
