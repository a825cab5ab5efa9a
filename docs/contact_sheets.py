"""Draws the contact sheets of docs/sources.md: python docs/contact_sheets.py, after `convergebench list sources v1`."""

from collections.abc import Sequence
from pathlib import Path

from convergebench.generation import pictures, suites
from convergebench.generation.sources import catalogue
from convergebench.generation.studies.restoration import degradations
from PIL import Image, ImageDraw

HERE = Path(__file__).parent
COLUMNS, CELL, LINE = 10, 120, 12


def sheet(titled: Sequence[tuple[str, Image.Image]], columns: int, cell: int) -> Image.Image:
    """Thumbnails in rows, each with its name below."""
    rows = -(-len(titled) // columns)
    page = Image.new("RGB", (columns * cell, rows * (cell + LINE)), "white")
    pen = ImageDraw.Draw(page)
    for index, (title, picture) in enumerate(titled):
        left, top = index % columns * cell, index // columns * (cell + LINE)
        small = picture.copy()
        small.thumbnail((cell - 4, cell - 4), Image.Resampling.LANCZOS)
        page.paste(small, (left + (cell - small.width) // 2, top + (cell - small.height) // 2))
        pen.text((left + 2, top + cell - 1), title[:20], fill="black", font_size=10)
    return page


def save(page: Image.Image, name: str) -> None:
    page.save(HERE / name, quality=72, method=6)
    print(name, f"{(HERE / name).stat().st_size / 1000:.0f} kB")


def main() -> None:
    decoded = {id: pictures.decode(catalogue.read(id)) for id in catalogue.manifest()}
    v1 = suites.load("v1").sources
    for kind in ("face", "object", "scene", "texture"):
        ids = [id for id in v1 if catalogue.row(id).kind == kind]
        save(sheet([(id, decoded[id]) for id in ids], COLUMNS, CELL), f"sources-{kind}.webp")
    clean = list(dict.fromkeys(id.partition("~")[0] for id in suites.load("restoration").sources))
    save(sheet([(id, decoded[id]) for id in clean], 7, 160), "restoration-clean.webp")
    names = list(degradations.DEGRADATIONS)
    ids = [f"{id}~{names[index % len(names)]}" for index, id in enumerate(clean)]
    broken = [(id.replace("~", " "), pictures.decode(catalogue.read(id))) for id in ids]
    save(sheet(broken, 7, 160), "restoration-degraded.webp")


if __name__ == "__main__":
    main()
