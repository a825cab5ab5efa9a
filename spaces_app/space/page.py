"""The page around the tabs: templates, theme, style sheet and scripts; nothing is fetched from another host."""

import html
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..palette import MUTED, SERIES

if TYPE_CHECKING:
    from gradio.themes import Base
    from jinja2 import Environment

HERE = Path(__file__).parent
STRIP = "/strip.jpg"  # the picture of a link, made when it is asked for
DESCRIPTION = "We ask an image editor for a change, then ask to undo it. How many rounds before the picture breaks?"
SCRIPTS = ("space.js", "chart.js", "results.js", "failures.js", "compare.js", "curves.js", "viewer.js", "yours.js",
           "labels.js")  # fmt: skip


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
    """The style sheet, with the palette's colours by number."""
    numbered = [
        f"{theme}.cb-series-{place} {{ --cb-line: {colour}; }}"
        for theme, colours in (
            ("", [each.light for each in (*SERIES, MUTED)]),
            (".dark ", [each.dark for each in (*SERIES, MUTED)]),
        )
        for place, colour in enumerate(colours)
    ]
    return (HERE / "space.css").read_text(encoding="utf-8") + "\n".join(numbered)


def head() -> str:
    """Our scripts, inline."""
    scripts = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return f"<script>{scripts}</script>"


def preview_tags(address: str) -> str:
    """What search engines and those who are sent a link show."""
    tags = {"og:title": "ConvergeBench", "og:description": DESCRIPTION, "og:image": f"{address}{STRIP}",
            "og:type": "website"}  # fmt: skip
    meta = "".join(f'<meta property="{name}" content="{html.escape(value)}">' for name, value in tags.items())
    card = '<meta name="twitter:card" content="summary_large_image">'
    return f'<meta name="description" content="{html.escape(DESCRIPTION)}">{meta}{card}'
