"""How often verdicts are right on pictures whose changes are known; writes docs/verdicts.md.

    make verdicts [REAL_CHAINS=PATH]

REAL_CHAINS is a folder of chains labelled by eye: EDITOR/CHAIN/I0_source.png, I1_forward.png, I1_backward.png, ...
Without it, their section stays as it was. Takes some minutes on one core.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import cv2
from convergebench.metric_modules.edit_applied.judge import SHARE, SHARE_SMALL

from . import measuring, truth

HOUSE = Path(__file__).parents[3]
ABOUT = """# How often the verdicts are right

`make verdicts` writes this page. It measures the verdicts on pictures whose changes are known: {count} photographs
of the suites at a short side of 512. Either a smooth irregular part of another photograph was pasted in, or a part was
filled in from its surroundings (Telea's method). Both differ by at least delta E 12 on average, under many kinds of
wear. All values are percentages. The drift map, the rules and their limits were chosen on photographs like these, so
this page is not an independent test.
"""
BREAKS = """## Where it breaks

- Parts of 0.3% of the picture or less are missed, and parts of up to 1% that resemble their surroundings, because
  differences within 8 of 512 pixels are allowed as a shift. For the same reason an edit on a texture of many colours is
  missed if its own colours are among them (contrast 12 to 16).
- If half of an added object remains, faded or cut, the edit can pass as undone, especially if it is small or under a
  colour cast. A part of a third picture passes for the edit itself in about one case in three: the cause is then named
  "not undone" instead of "part lost", but the loss is the same.
- A part redrawn in its own colours can be missed in a picture that is worn all over, because it must differ by four
  times the median.
- Edits weaker than delta E 12 are missed. Some wear looks like an edit: casts of 35% and more, shifts beyond 20 pixels,
  and growing zoom that registration does not accept. A strong cast passes for "make it night".
- Smiles and dark objects on a dark background are often too faint to be seen as edits.
"""
COLUMNS = ("editor", "chain", "round", "eye", "what was seen", "program", "rule", "colour", "structure", "left")
Row = dict[str, Any]


def percent(rows: Iterable[Row], holds: Callable[[Row], bool]) -> str:
    held = [holds(row) for row in rows]
    return f"{100 * sum(held) / len(held):.0f}" if held else "-"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def share(size: float) -> str:
    return f"{100 * size:g}%"


def lost(row: Row, least: float = SHARE) -> bool:
    return max(row["colour"], row["structure"]) >= least


def parts_section(rows: list[Row]) -> str:
    sizes, kinds = sorted({row["size"] for row in rows if row["size"]}), ("pasted", "painted out")
    alone = [row for row in rows if row["kind"] == "alone"]
    rules: dict[str, Callable[[Row], bool]] = {
        "part lost": lost,
        "part lost, by colour": lambda row: row["colour"] >= SHARE,
        "part lost, by structure": lambda row: row["structure"] >= SHARE,
        "applied": lambda row: row["applied"] >= SHARE,
        "applied, small programs": lambda row: row["applied"] >= SHARE_SMALL,
    }

    def of(kind: str, **wanted: Any) -> list[Row]:
        kind_rows = [row for row in rows if row["kind"] == kind]
        return [row for row in kind_rows if all(row[key] == value for key, value in wanted.items())]

    by_size = [
        [rule, kind, *(percent(of(kind, size=size), holds) for size in sizes), percent(alone, holds)]
        for rule, holds in rules.items()
        for kind in kinds
    ]
    wears = list(dict.fromkeys(row["wear"] for row in rows))
    by_wear = [
        [wear, *(percent(of(kind, wear=wear, size=size), lost) for kind in kinds for size in (0.006, 0.01, 0.02)),
         percent(of("alone", wear=wear), lost)]
        for wear in wears
    ]  # fmt: skip
    return (
        f"## A part lost, an edit made: by size\n\n{len(rows)} pairs. The last column is wear alone, where nothing is "
        f"to be found ({len(alone)} pairs: 0 says less than {300 / len(alone):.1f}).\n\n"
        + table(["asked", "part", *map(share, sizes), "wear alone"], by_size)
        + "\n### By wear: part lost\n\n"
        + table(
            ["wear", *(f"{kind} {share(size)}" for kind in kinds for size in (0.006, 0.01, 0.02)), "alone"],
            by_wear,
        )
    )


def drift_section(rows: list[Row]) -> str:
    rounds = sorted({row["round"] for row in rows})
    wears = list(dict.fromkeys(row["wear"] for row in rows))
    last = [row for row in rows if row["round"] == rounds[-1]]

    def line(name: str, own: list[Row], digits: int) -> list[str]:
        counts = [[row["accused"] for row in own if row["round"] == number] for number in rounds]
        counts.append([row["counted"] for row in own if row["round"] == rounds[-1]])
        return [name, *(f"{100 * sum(each) / len(each):.{digits}f}" for each in counts)]

    lines = [line(wear, [row for row in rows if row["wear"] == wear], 0) for wear in wears]
    return (
        f"## Wear alone, round after round: chains in which a part was called lost\n\n{len(last)} chains, each return "
        "aligned with the original if registration is accepted. The last column counts only losses before quality was "
        "lost (RMSE or SSIM below one half of what other photographs leave), after which the headline does not "
        "count.\n\n"
        + table(
            ["wear of each round", *(f"by round {number}" for number in rounds), "while quality was kept"],
            [*lines, line("all", rows, 1)],
        )
    )


def undo_section(rows: list[Row]) -> str:
    judged = [row for row in rows if row["undone"] is not None]
    sizes, wears = sorted({row["size"] for row in rows}), list(dict.fromkeys(row["wear"] for row in rows))

    def verdicts(own: list[Row]) -> list[str]:
        return [
            percent(own, lambda row: row["undone"] == 1 and not row["part_lost"]),
            percent(own, lambda row: row["undone"] == 0),
            percent(own, lambda row: row["undone"] == 1 and bool(row["part_lost"])),
        ]

    lines = []
    for back in dict.fromkeys(row["back"] for row in judged):
        own = [row for row in judged if row["back"] == back]
        passes = [
            percent([row for row in own if row["size"] == size], lambda row: row["undone"] == 1) for size in sizes
        ]
        passes += [
            percent([row for row in own if row["wear"] == wear], lambda row: row["undone"] == 1) for wear in wears
        ]
        lines.append([back, *verdicts(own), *passes])
    return (
        f"## An edit undone: what came back, and what it was called\n\n{len(rows)} triples of source, edit and return, "
        f"wear on edit and return; {len(rows) - len(judged)} edits were not found. The columns after the verdicts "
        'give the share that counts as undone ("gone", whatever else was lost), by size and by wear.\n\n'
        + table(["what came back", "kept", "not undone", "part lost", *map(share, sizes), *wears], lines)
    )


def real_section(folder: Path) -> str:
    rows = measuring.judged(folder)
    agree = sum(row["eye"] == row["program"] for row in rows)
    lines = [
        [row["editor"], row["chain"], row["round"], row["eye"], row["seen"], row["program"], row["rule"],
         *(f"{row[name]:.4f}" for name in ("colour", "structure")), f"{row['left']:.2f}", f"{row['psnr']:.1f}",
         f"{row['ssim']:.3f}"]
        for row in rows
    ]  # fmt: skip
    return (
        "## Real chains, judged by eye\n\nFour chains of two editors. Each round was judged by eye, in writing, "
        f"before any score was opened. The program agrees in {agree} of {len(rows)} rounds. The window "
        "and the limit of the rule by structure were chosen on these rounds, those of the rule by colour were not."
        "\n\n" + table([*COLUMNS, "PSNR", "SSIM"], lines)
    )


def write_card(card: Path, page: str) -> None:
    """Put the page's first table between the card's two marks."""
    text = page.partition("\n## A part lost")[2].partition("\n\n")[2].partition("\n### ")[0].strip()
    before, rest = card.read_text().split("<!-- verdicts -->\n")
    card.write_text(f"{before}<!-- verdicts -->\n{text}\n<!-- end -->\n{rest.partition('<!-- end -->')[2][1:]}")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="make verdicts", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HOUSE / "docs" / "verdicts.md")
    parser.add_argument("--photographs", type=int, default=10, help="how many")
    parser.add_argument(
        "--real-chains", type=Path, default=os.environ.get("REAL_CHAINS") or None, help="their folder"
    )
    parser.add_argument("--only", help="the beginning of the one title whose section is measured anew")
    parser.add_argument("--card", type=Path, help="a card in which the tables are replaced")
    given = parser.parse_args(words)
    cv2.setNumThreads(1)
    pictures = truth.photographs(given.photographs)
    real_chains = given.real_chains if given.real_chains and given.real_chains.is_dir() else None
    sections: dict[str, Callable[[], str] | None] = {
        "A part lost": lambda: parts_section(list(measuring.parts(pictures))),
        "Wear alone": lambda: drift_section(list(measuring.drifting(pictures))),
        "An edit undone": lambda: undo_section(list(measuring.undoing(pictures))),
        "Real chains": real_chains and (lambda: real_section(real_chains)),
    }
    before = given.out.read_text().split("\n## ") if given.out.exists() else []
    written = [ABOUT.format(count=len(pictures))]
    for title, work in sections.items():
        kept = "".join(f"## {part.rstrip()}\n" for part in before if part.startswith(title))
        if work is None or (given.only and not title.startswith(given.only)):
            print(f"{title}: as it was")
            written.append(kept)
        else:
            written.append(work())
    page = "\n".join([*filter(None, written), BREAKS])
    given.out.write_text(page)
    if given.card:
        write_card(given.card, page)
    print(f"wrote {given.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
