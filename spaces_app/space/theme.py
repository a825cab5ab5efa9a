"""The look of the Space: local fonts only, the report's colours, and the scripts that run in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..palette import INK, MUTED, SERIES

if TYPE_CHECKING:
    from gradio.themes import Base

HERE = Path(__file__).parent
SCRIPTS = ("space.js", "viewer.js")


def theme() -> "Base":
    """Gradio's plain theme in the system's own fonts."""
    import gradio as gr

    sans = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
    return gr.themes.Base(
        primary_hue=gr.themes.colors.blue,
        neutral_hue=gr.themes.colors.slate,
        font=sans,
        font_mono=["ui-monospace", "Consolas", "monospace"],
        radius_size=gr.themes.sizes.radius_md,
    ).set(body_text_color_subdued=MUTED.light, body_text_color_subdued_dark=MUTED.dark)


def css() -> str:
    return (HERE / "space.css").read_text(encoding="utf-8") + plots_in_the_dark()


def plots_in_the_dark() -> str:
    """Plotly writes colours into the drawing; in the dark each of ours is turned into its partner."""
    rules = []
    for colour in (*SERIES, INK):
        for name in ("stroke", "fill"):
            rules.append(
                f'.dark .js-plotly-plot [style*="{name}: {as_rgb(colour.light)}"]{{{name}:{colour.dark} !important}}'
            )
    return "\n".join(rules)


def as_rgb(colour: str) -> str:
    """As browsers write it into a style.

    >>> as_rgb("#0068a8")
    'rgb(0, 104, 168)'
    """
    return f"rgb({int(colour[1:3], 16)}, {int(colour[3:5], 16)}, {int(colour[5:], 16)})"


def head() -> str:
    """What the page carries: our scripts, inline, so that nothing is fetched from elsewhere."""
    scripts = "".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return (
        f"<script>{scripts}</script>"
        '<meta name="description" content="How long does an image editor survive being used again and again?">'
    )
