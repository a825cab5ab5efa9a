"""Draws docs/decay.webp, the picture of the README: python docs/decay.py convergebench, after `make demo`."""

import io
import sys
from pathlib import Path

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.spaces_app.reporting.write import read_analysis, top_strips
from convergebench.spaces_app.statistics import compute_tables
from PIL import Image

OUT = Path(__file__).with_name("decay.webp")
WIDTH = 1100  # pixels


def main(dataset: Path) -> None:
    reader = Reader(dataset)
    analysis = read_analysis(reader)
    _, drawn = top_strips(analysis, compute_tables(analysis), reader)
    if drawn is None:
        raise SystemExit(f"{dataset} has no editor under test")
    picture = Image.open(io.BytesIO(drawn.file("png"))).convert("RGB")
    picture.resize((WIDTH, round(picture.height * WIDTH / picture.width))).save(OUT, quality=82, method=6)
    print(OUT.name, f"{OUT.stat().st_size / 1000:.0f} kB: {drawn.title} {drawn.description}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
