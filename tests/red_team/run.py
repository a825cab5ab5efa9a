"""Dishonest editors against honest ones, through generate, build, score and the report: what keeps which from a rank.

    python tests/red_team/run.py [--sources 16] [--programs 9] [--rounds 3] [--write]

Sixteen pictures and nine programs, pictures at 256 pixels; pixels, structure, edits and honesty are checked, LPIPS and
CLIP are not. Prints one table, and with --write puts it into docs/threats.md.
"""

import argparse
import dataclasses
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from convergebench import dataset_builder, metric_modules
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors, plan, programs, recall_audit, scheduler, suites
from convergebench.generation.records import KINDS, Chain
from convergebench.generation.sources import catalogue
from convergebench.spaces_app.statistics import leaderboard
from convergebench.spaces_app.study.apart import UNJUDGED
from convergebench.spaces_app.study.study import Study
from red_team.editors import CHEATS, choice

SOURCES = (
    *("coffee", "rocket", "tomatoes", "open-book", "hands-on-book", "painted-toys", "mint-car", "tube-on-foam"),
    *("pagoda", "lone-tree", "running-puppy", "red-tree", "sandstone-canyon", "jungle-leopard", "evening-pool"),
    "school-crossing",
)
PROGRAMS = (
    *("red-ball", "blue-book", "green-apple", "white-cup", "umbrella", "suitcase", "chair-left", "potted-plant"),
    "bench",
)
HONEST = ("paint", "paint:wear=0.0")
METRICS = ("psnr", "ssim", "edit_applied", "honesty", "recalled")
TABLE = re.compile(r"<!-- red team -->\n.*?<!-- end -->\n", re.DOTALL)
CAUSES = {"applied": "edits not made", "undone": "edits not taken back"}


def red_team_plan(
    names: Sequence[str],
    honest: Sequence[str],
    sources: Sequence[str],
    asked: Sequence[str],
    rounds: int,
    salt: bytes,
) -> plan.Plan:
    """Every editor on every pair of a source and a program; every editor is audited as a stranger is."""
    suite = suites.Suite("red-team", "dishonest editors", "1", 256, rounds, 1, tuple(sources), tuple(asked))
    pairs = [
        (catalogue.source(source), dataclasses.replace(programs.get(program), fits=KINDS))
        for source in sources
        for program in asked
    ]
    choices = [*map(choice, names), *map(editors.choose, honest)]
    chains = [
        recall_audit.with_audit(
            Chain(source, program, each.label, {**each.settings, "short_side": 256}, 1, rounds), salt
        )
        for each in choices
        for source, program in pairs
    ]
    return plan.Plan(suite, tuple(choices), tuple(chains), recall_audit.salt_hash(salt))


def play(made: plan.Plan, folder: Path, metrics: Sequence[str] = METRICS) -> Study:
    """Generate, build, score, and read the study."""
    outcome = scheduler.generate(made, made.chains, folder / "run", workers=2)
    assert outcome.clean, outcome
    dataset_builder.build(folder / "run", folder / "dataset")
    metric_modules.score(folder / "dataset", metrics, device="cpu", quiet=True)
    reader = Reader(folder / "dataset")
    scores, floors = (list(reader.rows(config)) for config in ("scores", "floors"))
    roles = {label: editor.role for label, editor in reader.editors().items()}
    return Study(scores, list(reader.chains()), floors, roles=roles)


def result_rows(study: Study) -> list[dict[str, Any]]:
    """One row for each editor: its rank, the rounds it keeps, what caught it, and what all else said of it."""
    rows = []
    for row in leaderboard.rows(study):
        editor = row["editor"]
        apart = study.apart.get(editor, ())
        values = {each["check"]: each for each in study.honesty if each["editor"] == editor}
        recall = next((each for each in study.recall if each["editor"] == editor), {})
        rows.append(
            {
                "editor": editor,
                "rank": row["rank"],
                "kept": row["rounds_kept"],
                "cause": row["cause"] or "",
                "failed": row["failed"],
                "apart": apart,
                "values": values,
                "marks": (recall.get("recalled"), recall.get("judged")),
            }
        )
    return sorted(rows, key=lambda row: (row["editor"] in CHEATS, -(row["kept"] or 0)))


def number(row: dict[str, Any], check: str) -> str:
    found = row["values"].get(check)
    if not found or found["value"] is None:
        return "–"
    text = f"{found['value']:.0f}" if check == "known_cases" else f"{found['value']:.2f}"
    return f"**{text}**" if found["outcome"] == "failed" else text if found["outcome"] == "passed" else f"({text})"


def table(rows: Sequence[dict[str, Any]], rounds: int) -> str:
    """The rows as Markdown."""
    names = {"known_fine": "fine", "known_middle": "shapes", "known_cases": "certain", "same_change": "alike",
             "colour_share": "colour", "shines_through": "shines"}  # fmt: skip
    head = ["editor", f"rounds kept of {rounds}", "mostly lost to", "marks lost", *names.values(), "outcome"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    level = next((row["kept"] for row in rows if row["editor"] == "paint:wear=0.0"), 0.0)
    for row in rows:
        lost, judged = row["marks"]
        marks = "–" if not judged else f"{lost} of {judged}"
        caught = [reason for reason in row["apart"] if reason != UNJUDGED]
        if caught:
            outcome = "listed apart: " + "; ".join(caught)
        elif row["editor"] not in CHEATS:
            outcome = "not accused"
        else:
            outcome = "below" if row["kept"] < level else "**AT OR ABOVE**"
        cells = [row["editor"], f"{row['kept']:.2f}", row["cause"], marks, *(number(row, each) for each in names)]
        lines.append("| " + " | ".join([*cells, outcome]) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sources", type=int, default=len(SOURCES), help="so many of the pictures")
    options.add_argument("--programs", type=int, default=len(PROGRAMS), help="so many of the programs")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--editor", action="append", help="only this dishonest editor; repeatable")
    options.add_argument("--honest", action="append", default=[], help="a further honest editor, such as migan")
    options.add_argument("--out", type=Path, help="keep the run and the dataset here")
    options.add_argument("--write", action="store_true", help="put the table into docs/threats.md")
    given = options.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        made = red_team_plan(
            given.editor or list(CHEATS),
            [*HONEST, *given.honest],
            SOURCES[: given.sources],
            PROGRAMS[: given.programs],
            given.rounds,
            secrets.token_bytes(32),
        )
        rows = result_rows(play(made, given.out or Path(folder)))
    text = table(rows, given.rounds)
    print(text)
    print(f"{len(made.chains)} chains in {time.monotonic() - started:.0f} s")
    if given.write:
        page = Path(__file__).parents[2] / "docs" / "threats.md"
        words = f"{given.sources} pictures, {given.programs} programs, {given.rounds} rounds.\n"
        new = f"<!-- red team -->\n{words}\n{text}<!-- end -->\n"
        page.write_text(TABLE.sub(lambda _: new, page.read_text(encoding="utf-8")), encoding="utf-8")
    if any(row["editor"] not in CHEATS and set(row["apart"]) - {UNJUDGED} for row in rows):
        raise SystemExit("an honest editor is accused")
    if any("AT OR ABOVE" in line for line in text.splitlines()):
        raise SystemExit("a dishonest editor ranks at or above paint:wear=0")


if __name__ == "__main__":
    main()
