"""A page to try edit_applied on three pictures of your own."""

import gradio as gr
import numpy as np
from convergebench.metric_modules._shared.page import launch, page, picture


def example() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A plain picture, one with a red ball, and one from which the ball was painted out."""
    rows, columns = np.mgrid[:384, :384]
    before = np.stack([rows // 3 + 60, columns // 3 + 60, (rows + columns) // 6 + 60], axis=2).astype(np.uint8)
    ball = (rows - 240) ** 2 + (columns - 150) ** 2 < 2500
    forward, back = before.copy(), before.copy()
    forward[ball] = (214, 40, 57)
    back[ball] = before[ball] + 6
    return before, forward, back


def _headline(result: dict) -> str:
    """The two answers in words."""
    words = {1.0: "yes", 0.0: "no", None: "cannot be said"}
    return f"## Applied: {words[result['applied']]} · Undone: {words[result['undone']]}"


demo = page(
    __file__,
    "edit_applied",
    "Edit applied",
    "Did an image edit happen, and was it taken back?",
    [
        *(picture(label) for label in ("Before", "Edited", "Back again")),
        gr.Textbox(
            "add a red ball", label="First instruction", info="Flips and rotations are recognised.", render=False
        ),
        gr.Textbox("remove the red ball", label="Second instruction", render=False),
        gr.Checkbox(label="Small change", info="Such as glasses: 0.1% of the picture is enough.", render=False),
    ],
    lambda metric, before, forward, back, first, second, small: metric.compute(
        references=[before], predictions=[forward], returns=[back], cycle=[first, second], small=small
    ),
    _headline,
    example,
)

if __name__ == "__main__":
    launch(demo)
