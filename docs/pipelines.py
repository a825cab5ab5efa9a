"""Writes docs/diffusers.md: every diffusers pipeline that takes a picture and words, supported or why not.

python docs/pipelines.py
"""

import inspect
from pathlib import Path
from typing import Any

import diffusers
from convergebench.generation.editors import diffusers as pipelines

PAGE = Path(__file__).parent / "diffusers.md"
# With random weights, as tests/tiny_pipelines.py makes them, real chains are run.
WEIGHTS = (
    *("FluxKontext", "Flux2", "Flux2Klein", "Flux2KleinKV", "QwenImageEdit", "QwenImageEditPlus", "QwenImage21"),
    *("StableDiffusionInstructPix2Pix", "StableDiffusionXLInstructPix2Pix", "LongCatImageEdit", "JoyImageEdit"),
    *("DreamLite", "DreamLiteMobile", "ZImageOmni", "Kandinsky5I2I", "ChronoEdit", "BriaFiboEdit", "GlmImage"),
)


def kinds() -> list[type]:
    """Every class of pipeline that takes a picture and words."""
    found = []
    for name in sorted(name for name in dir(diffusers) if name.endswith("Pipeline")):
        kind: Any = getattr(diffusers, name)
        if not inspect.isclass(kind) or name.replace("Diffusion", "") == "Pipeline":
            continue
        if {"image", "prompt"} <= inspect.signature(kind.__call__).parameters.keys():
            found.append(kind)
    return found


def table() -> str:
    lines = [
        f"diffusers {diffusers.__version__}.\n",
        "| pipeline | driven | tried, or why not |",
        "|---|---|---|",
    ]
    rows = [(kind.__name__, pipelines.why_not(kind)) for kind in kinds()]
    for name, reason in sorted(rows, key=lambda row: (row[1] is not None, row[0])):
        tried = "chains" if name.removesuffix("Pipeline") in WEIGHTS else "call"
        lines.append(f"| `{name}` | {'no' if reason else 'yes'} | {reason or tried} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    before, rest = PAGE.read_text().split("<!-- pipelines -->\n")
    PAGE.write_text(f"{before}<!-- pipelines -->\n{table()}<!-- end -->{rest.split('<!-- end -->', 1)[1]}")
