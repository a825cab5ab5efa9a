"""The bench's figure: two autoencoders' curves with their half-lives, and metrics beside people's agreement."""

import io
from pathlib import Path

from convergebench.spaces_app.palette import GRID, INK, MUTED, SERIES
from PIL import Image

from .sections import Section

MARKS = ("as asked", "looks")  # what people were asked of each answer


def draw(sections: list[Section], path: Path) -> bool:
    """Write the figure of the sections that have something to draw; False where none has."""
    import matplotlib.pyplot as plt

    curves = next((section.curves for section in sections if section.curves), {})
    agreement = next((section.agreement for section in sections if section.agreement), {})
    if not curves and not agreement:
        return False
    plt.rcParams |= {"font.size": 9, "text.color": INK.light, "axes.edgecolor": MUTED.light}
    figure, panels = plt.subplots(
        1, 2, figsize=(11, 4.4), dpi=100, facecolor="white", width_ratios=(1, 1.15), layout="constrained"
    )
    draw_curves(panels[0], curves)
    draw_agreement(panels[1], agreement)
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer)
    plt.close(figure)
    Image.open(buffer).convert("RGB").save(path, quality=82, method=6)
    return True


def draw_curves(axes, curves) -> None:
    """Retained quality of every chain, round by round."""
    for place, name in enumerate(dict.fromkeys(name for name, _ in curves)):
        own = {photograph: values for (each, photograph), values in curves.items() if each == name}
        ends = [values[-1] for values in own.values()]
        for photograph, values in own.items():
            axes.plot(range(1, len(values) + 1), values, color=SERIES[place].light, linewidth=2, alpha=0.85)
            if max(ends) - min(ends) > 0.06 or photograph == next(iter(own)):
                words = f"{name}, {photograph}" if max(ends) - min(ends) > 0.06 else name
                axes.annotate(
                    words, (len(values), values[-1]), xytext=(4, 3), textcoords="offset points",
                    color=SERIES[place].light,
                )  # fmt: skip
    axes.axhline(0.5, color=MUTED.light, linestyle="--", linewidth=1)
    axes.set(ylim=(0, 1.02), xlabel="round", ylabel="retained quality", title="Two autoencoders, again and again")
    axes.set_xlim(1, 1.35 * max(map(len, curves.values()), default=1))
    axes.grid(axis="y", color=GRID.light)


def draw_agreement(axes, agreement) -> None:
    """Spearman of each measure with people, beside rater against rater."""
    names = list(agreement)[::-1]
    for place, mark in enumerate(MARKS):
        values = [agreement[name][place] for name in names]
        heights = [row + 0.2 - 0.4 * place for row in range(len(names))]
        axes.barh(heights, values, height=0.36, color=SERIES[place].light, label=f"people's mark: {mark}")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0, 1), xlabel="Spearman's correlation", title="Agreement with people")
    axes.grid(axis="x", color=GRID.light)
    if names:
        axes.legend(loc="lower right", frameon=False)
