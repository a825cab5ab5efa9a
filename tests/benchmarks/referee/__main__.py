"""The referee's bench: what others published, beside what we get from the same pictures.

    make referee VIESCORE=clones/VIEScore IMAGENHUB=clones/ChromAIca.github.io

Each path is a clone of a public repository; a comparison whose path is not given is left out with a sentence. Writes
docs/referee.md and ends with 1 where a claim fails. Nothing of the repositories is kept but sums and digests.
"""

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from . import reed_vae, viescore
from .measuring import Measuring
from .sections import Section

HOUSE = Path(__file__).parents[3]
FROZEN = Path(__file__).with_name("frozen.json")
PAGE = HOUSE / "docs" / "referee.md"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make referee", description=__doc__.partition("\n")[0])
    for name in ("viescore", "imagenhub", "reed-vae"):
        default = os.environ.get(name.upper().replace("-", "_")) or None
        parser.add_argument(f"--{name}", type=Path, default=default)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--frozen", type=Path, default=FROZEN, help="sums that must come out again")
    parser.add_argument("--freeze", action="store_true", help="write the sums of this run there")
    given = parser.parse_args(words)
    for path in (given.viescore, given.imagenhub, given.reed_vae):
        if path and not path.is_dir():
            parser.error(f"there is no folder {path}")
    sections = compare(given, Measuring())
    frozen = json.loads(given.frozen.read_text()) if given.frozen.is_file() else {}
    if given.freeze:
        frozen |= {name: value for section in sections for name, value in section.measured.items()}
        given.frozen.write_text(json.dumps(dict(sorted(frozen.items())), indent=1) + "\n")
    for section in sections:
        section.compare_with(frozen)
    held = all(section.holds for section in sections)
    today = datetime.now(UTC).date().isoformat()
    about = PAGE.read_text().partition("\n\nCompared on ")[0]  # written by hand
    parts = [about, f"Compared on {today}.", *(section.markdown() for section in sections)]
    given.out.write_text("\n\n".join(parts) + "\n")
    for section in sections:
        for claim in section.claims:
            print(f"{'holds' if claim.holds else 'FAILS'}  {section.title}: {claim.words}")
        if not section.claims:
            print(f"left out  {section.title}")
    print(f"written: {given.out}")
    return 0 if held else 1


def compare(given: argparse.Namespace, measuring: Measuring) -> list[Section]:
    """Every comparison whose clone is here; the others as a section that says what they need."""
    sections = []
    for about, path, *more in ((viescore, given.viescore, given.imagenhub), (reed_vae, given.reed_vae)):
        words = f"Left out: it needs {about.WHAT}. The tests run it on a small stand-in."
        left_out = Section(about.TITLE, text=[words])
        sections.append(about.run(path, *more, measuring) if path else left_out)
    return sections


if __name__ == "__main__":
    sys.exit(main())
