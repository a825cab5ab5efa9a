"""A page to try CLIP similarity on two pictures."""

import gradio as gr
from convergebench.metric_modules._shared.page import launch, pair_page


def _headline(result: dict) -> str:
    """The number, or why there is none."""
    if result["clip_similarity"] is None:
        return f"## not computed\n{result['reason']}"
    return f"## CLIP similarity {result['clip_similarity']:.4f}"


demo = pair_page(
    __file__,
    "clip_similarity",
    "CLIP similarity",
    "Does the answer still show what the original shows?",
    _headline,
    {"checkpoint": gr.Textbox("openai/clip-vit-large-patch14", label="Model", render=False)},
)

if __name__ == "__main__":
    launch(demo)
