"""Draws docs/decay.webp, the picture of the README: python docs/decay.py convergebench, after `make demo`."""

import io
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import decode
from convergebench.metric_modules.specs import checked_columns
from convergebench.spaces_app.palette import GRID, INK, MUTED, SERIES
from PIL import Image

HERE = Path(__file__).parent
SOURCE, PROGRAM = "astronaut", "hat"
EDITORS = {  # each with its colour
    "oracle": ("undoes its edit exactly", SERIES[2]),
    "paint": ("undoes by inpainting", SERIES[0]),
    "noise": ("makes no edit, adds noise", SERIES[1]),
}
FRAMES = {  # title: (round, position in the cycle)
    "original": (0, 0),
    "round 1: add a hat": (1, 1),
    "remove it": (1, 2),
    "after round 4": (4, 2),
    "after round 7": (7, 2),
    "after round 10": (10, 2),
}
WIDTH, HEIGHT = 10, 8.7  # inches, at 110 dots each


def read(dataset: Path) -> tuple[dict[tuple[str, int, int], Image.Image], dict[str, dict[int, float]]]:
    """The pictures of the frames, and the lowest retained quality after each round."""
    reader = Reader(dataset)
    pictures, quality = {}, {}
    for chain in reader.chains():
        if chain.editor not in EDITORS or (chain.source.id, chain.program.id) != (SOURCE, PROGRAM):
            continue
        for step in reader.steps_of(chain):
            if (step.round, step.position) in FRAMES.values():
                picture = decode(reader.picture(chain.id, step.step) or b"")
                pictures[chain.editor, step.round, step.position] = picture
        rows = [row for row in reader.rows("scores") if row["chain"] == chain.id and row["position"] == 2]
        quality[chain.editor] = {0: 1.0} | {
            row["round"]: min(row[f"retained_{name}"] for name in checked_columns("quality")) for row in rows
        }
    return pictures, quality


def draw(pictures: dict[tuple[str, int, int], Image.Image], quality: dict[str, dict[int, float]]) -> Image.Image:
    """A row of pictures for each editor, and their curves below."""
    plt.rcParams |= {"font.size": 10, "text.color": INK.light, "axes.edgecolor": MUTED.light}
    figure = plt.figure(figsize=(WIDTH, HEIGHT), dpi=110, facecolor="white")
    for row, (editor, (about, colour)) in enumerate(EDITORS.items()):
        for column, (title, place) in enumerate(FRAMES.items()):
            axes = figure.add_axes((0.01 + column * 0.165, 0.782 - row * 0.222, 0.16, 0.16 * WIDTH / HEIGHT))
            picture = pictures[editor, *place]
            axes.imshow(
                picture.crop((0, 0, picture.width * 3 // 4, picture.height * 3 // 4))
            )  # the head and shoulders
            axes.set_xticks([])
            axes.set_yticks([])
            if row == 0:
                axes.set_title(title, fontsize=10)
            if column == 0:
                axes.text(
                    0, -0.03, f"{editor}", transform=axes.transAxes, va="top", color=colour.light, weight="bold"
                )
                axes.text(0.42, -0.03, about, transform=axes.transAxes, va="top", color=MUTED.light)
    axes = figure.add_axes((0.06, 0.06, 0.8, 0.22))
    for editor, (_, colour) in EDITORS.items():
        rounds, values = list(quality[editor]), list(quality[editor].values())
        axes.plot(rounds, values, color=colour.light, marker="o", markersize=4, linewidth=2)
        axes.text(10.25, values[-1], f"{editor} {values[-1]:.2f}", color=colour.light, va="center", weight="bold")
    axes.axhline(0.5, color=MUTED.light, linestyle="--", linewidth=1)
    axes.text(10.25, 0.42, "half is gone", color=MUTED.light, va="center")
    axes.set(xlim=(0, 10.1), ylim=(0, 1.04), xticks=range(11), yticks=(0, 0.5, 1))
    axes.set_xlabel("round")
    axes.set_ylabel("retained quality")
    axes.grid(axis="y", color=GRID.light)
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer)
    return Image.open(buffer).convert("RGB")


def main(dataset: Path) -> None:
    draw(*read(dataset)).save(HERE / "decay.webp", quality=82, method=6)
    print("decay.webp", f"{(HERE / 'decay.webp').stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
