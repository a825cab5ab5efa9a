"""The page around the tabs: templates, theme, style sheet and scripts; nothing is fetched from another host."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..palette import INK, MUTED, SERIES

if TYPE_CHECKING:
    from gradio.themes import Base
    from jinja2 import Environment

HERE = Path(__file__).parent
SCRIPTS = ("space.js", "viewer.js")


@cache
def templates() -> "Environment":
    """The HTML templates of this folder; every value is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )


def render(name: str, **values: Any) -> str:
    """A template filled in."""
    return templates().get_template(name).render(values)


def note(words: str) -> Any:
    """A paragraph of explanation below or above a table or a figure."""
    import gradio as gr

    return gr.HTML(f'<p class="cb-note">{words}</p>', apply_default_css=False)


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
    """The style sheet, with the palette's colours for lines by number and, in the dark, for Plotly's drawings."""
    numbered = [
        f"{theme}.cb-series-{place} {{ --cb-line: {colour}; }}"
        for theme, colours in (("", [each.light for each in SERIES]), (".dark ", [each.dark for each in SERIES]))
        for place, colour in enumerate(colours)
    ]
    # Plotly writes colours into the drawing; in the dark each of ours is turned into its partner.
    dark_plots = [
        f'.dark .js-plotly-plot [style*="{name}: {as_rgb(colour.light)}"]{{{name}:{colour.dark} !important}}'
        for colour in (*SERIES, INK)
        for name in ("stroke", "fill")
    ]
    return (HERE / "space.css").read_text(encoding="utf-8") + "\n".join(numbered + dark_plots)


def as_rgb(colour: str) -> str:
    """As browsers write it into a style.

    >>> as_rgb("#0068a8")
    'rgb(0, 104, 168)'
    """
    return f"rgb({int(colour[1:3], 16)}, {int(colour[3:5], 16)}, {int(colour[5:], 16)})"


def head() -> str:
    """Our scripts, inline, and what search engines show."""
    scripts = "".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return (
        f"<script>{scripts}</script>"
        '<meta name="description" content="How long does an image editor survive being used again and again?">'
    )
