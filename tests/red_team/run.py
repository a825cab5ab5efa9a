"""Dishonest editors against honest ones, through generate, build, score and the report: what keeps which from a rank.

    python tests/red_team/run.py [--sources 16] [--programs 9] [--rounds 2] [--out runs/red-team] [--write]

Sixteen pictures and nine programs, pictures at 256 pixels; pixels, structure, edits and honesty are checked, LPIPS and
CLIP are not. Prints one table, and with --write puts it into docs/threats.md. Each editor has a folder of its own, so
that a run that was stopped goes on, and only an editor whose code has changed is asked again.
"""

import argparse
import dataclasses
import hashlib
import inspect
import re
import secrets
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from convergebench import dataset_builder, metric_modules
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import audits, editors, plan, programs, scheduler, suites
from convergebench.generation.records import KINDS, Chain
from convergebench.generation.sources import catalogue
from convergebench.metric_modules.honesty import reader
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.comparisons import compare_two
from convergebench.spaces_app.statistics import leaderboard
from convergebench.spaces_app.studies.honesty.apart import UNJUDGED
from convergebench.spaces_app.studies.honesty.statistics import honesty
from red_team.disguises import DISGUISES, INNOCENT, innocent
from red_team.editors import CHEATS, choice

SOURCES = (
    *("coffee", "rocket", "tomatoes", "open-book", "hands-on-book", "painted-toys", "mint-car", "tube-on-foam"),
    *("pagoda", "lone-tree", "running-puppy", "red-tree", "sandstone-canyon", "jungle-leopard", "evening-pool"),
    "school-crossing",
)
PROGRAMS = (
    *("red-ball", "blue-book", "green-apple", "white-cup", "umbrella", "suitcase", "chair-left", "potted-plant"),
    "bench", "ball-chair-nested",
)  # fmt: skip
HONEST = ("paint", "paint:wear=0.0", "migan", *INNOCENT)
LEVEL = "paint:wear=0.0"  # no dishonest editor may stand beside it or above
METRICS = ("psnr", "ssim", "edit_applied", "honesty")
TABLE = re.compile(r"<!-- red team -->\n.*?<!-- end -->\n", re.DOTALL)


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
    choices = [*map(choice, names)]
    choices += [innocent(name) if name in INNOCENT else editors.choose(name) for name in honest]
    chains = [
        audits.with_audit(
            Chain(source, program, each.label, {**each.settings, "short_side": 256}, 1, rounds), salt
        )
        for each in choices
        for source, program in pairs
    ]
    return plan.Plan(suite, tuple(choices), tuple(chains), audits.salt_hash(salt))


def play(made: plan.Plan, folder: Path, metrics: Sequence[str] = METRICS) -> Reader:
    """Generate, build and score; what was done before stays."""
    outcome = scheduler.generate(made, made.chains, folder / "run", workers=1)
    assert outcome.clean, outcome
    if not (folder / "built").exists():
        dataset_builder.build(folder / "run", folder / "dataset")
        (folder / "built").touch()
    metric_modules.score(folder / "dataset", metrics, device="cpu", quiet=True)
    (folder / "finished").touch()
    return Reader(folder / "dataset")


def analysis_of(readers: Iterable[Reader]) -> Analysis:
    """One study of the datasets of several editors; their floors are the same, because their sources are."""
    scores: list[Any] = []
    chains: list[Any] = []
    floors: list[Any] = []
    roles: dict[str, str] = {}
    for dataset in readers:
        scores += dataset.rows("scores")
        chains += dataset.chains()
        floors = list(dataset.rows("floors"))
        roles |= {label: editor.role for label, editor in dataset.editors().items()}
    return Analysis(scores, chains, floors, roles=roles)


def folder_of(out: Path, name: str, about: Sequence[Any]) -> Path:
    """An editor's folder: another one where its code, or what is asked of it, has changed."""
    makers = type(CHEATS[name]()).__mro__[:-1] if name in CHEATS else ()
    code = [inspect.getsource(DISGUISES.get(kind.__name__, kind)) for kind in makers]
    return out / f"{name}-{hashlib.sha256(repr([*code, *about]).encode()).hexdigest()[:8]}"


def read_salt(out: Path) -> bytes:
    """The salt of a run: drawn when it begins."""
    file = out / "salt"
    if not file.exists():
        out.mkdir(parents=True, exist_ok=True)
        file.write_text(secrets.token_hex(32), encoding="ascii")
    return file.read_bytes()


def result_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each editor: its rank, the rounds it keeps, what caught it, and what all else said of it."""
    rows = []
    kept_by_case = next(iter(analysis.comparisons.values())).outcomes
    for row in [row.cells for row in leaderboard.rows(analysis)]:
        editor = row["editor"]
        apart = analysis.apart.get(editor, ())
        verdicts = {found.check: found for found in analysis.once(honesty.rows) if found.editor == editor}
        rows.append(
            {
                "editor": editor,
                "rank": row["rank"],
                "kept": row["rounds_kept"],
                "cause": row["cause"] or "",
                "failed": row["failed"],
                "apart": apart,
                "p": compare_two(kept_by_case, editor, LEVEL).p_value
                if {editor, LEVEL} <= {*kept_by_case}
                else None,
                "verdicts": verdicts,
            }
        )
    return sorted(rows, key=lambda row: (row["editor"] in CHEATS, -(row["kept"] or 0)))


def number(row: dict[str, Any], check: str) -> str:
    verdict = row["verdicts"].get(check)
    if not verdict or verdict.value is None:
        return "–"
    text = f"{verdict.value:.2f}"
    return f"**{text}**" if verdict.outcome == "failed" else text if verdict.outcome == "passed" else f"({text})"


def table(rows: Sequence[dict[str, Any]], rounds: int) -> str:
    """The rows as Markdown."""
    names = {"known": "known", "known_mean": "mean", "shines_through": "shines", "written": "written"}  # fmt: skip
    head = ["editor", f"rounds kept of {rounds}", "mostly lost to", "marks lost", *names.values(), "outcome"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    level = next((row["kept"] for row in rows if row["editor"] == LEVEL), 0.0)
    for row in rows:
        verdict = row["verdicts"].get(honesty.MARKS)
        marks = f"{verdict.value:.0f} of {verdict.cases}" if verdict and verdict.cases else "–"
        caught = [reason for reason in row["apart"] if reason != UNJUDGED]
        if caught:
            outcome = "listed apart: " + "; ".join(caught)
        elif row["editor"] not in CHEATS:
            outcome = "not accused"
        else:
            by_chance = row["p"] is not None and row["p"] > 0.05
            outcome = (
                "below"
                if row["kept"] < level
                else f"level, p = {row['p']:.2f}"
                if by_chance
                else "**AT OR ABOVE**"
            )
        cells = [row["editor"], f"{row['kept']:.2f}", row["cause"], marks, *(number(row, each) for each in names)]
        lines.append("| " + " | ".join([*cells, outcome]) + " |")
    return "\n".join(lines) + "\n"


def counts(rows: Sequence[dict[str, Any]], text: str) -> str:
    """How many were caught, in a sentence."""
    honest = [row for row in rows if row["editor"] not in CHEATS]
    apart = sum(bool(set(row["apart"]) - {UNJUDGED}) for row in rows if row["editor"] in CHEATS)
    above = text.count("AT OR ABOVE")
    accused = sum(bool(set(row["apart"]) - {UNJUDGED}) for row in honest)
    known = [row["verdicts"]["known_mean"].value for row in honest if "known_mean" in row["verdicts"]]
    most = max(filter(None, known), default=0)
    level = text.count("| level, p")
    below = len(rows) - len(honest) - apart - above - level
    return (
        f"Listed apart: {apart} of {len(rows) - len(honest)} dishonest editors; below `{LEVEL}`: {below}; "
        f"level with it by chance: {level}; at or above it: {above}.\n"
        f"Accused: {accused} of {len(honest)} honest editors; "
        f"their mean advantage over the fillers is at most {most:.2f}.\n"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sources", type=int, default=len(SOURCES), help="so many of the pictures")
    options.add_argument("--programs", type=int, default=len(PROGRAMS), help="so many of the programs")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--editor", action="append", help="only this dishonest editor; repeatable")
    options.add_argument("--honest", action="append", help="only this honest editor; repeatable")
    options.add_argument(
        "--out", type=Path, default=Path("runs/red-team"), help="where runs and datasets are kept"
    )
    options.add_argument("--finished", action="store_true", help="the table of what earlier runs have finished")
    options.add_argument("--write", action="store_true", help="put the table into docs/threats.md")
    given = options.parse_args()
    reader.NETWORK.fetch()
    salt = read_salt(given.out)
    asked = SOURCES[: given.sources], PROGRAMS[: given.programs], given.rounds, salt
    readers, missing = [], []
    for name in [*(given.honest or HONEST), *(given.editor or CHEATS)]:
        if given.finished:
            folder = folder_of(given.out, name, asked)
            if (folder / "finished").exists():
                readers.append(Reader(folder / "dataset"))
            else:
                missing.append(name)
            continue
        started = time.process_time()
        made = red_team_plan([name] if name in CHEATS else [], [] if name in CHEATS else [name], *asked)
        readers.append(play(made, folder_of(given.out, name, asked)))
        print(
            f"{name}: {len(made.chains)} chains, {time.process_time() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    rows = result_rows(analysis_of(readers))
    text = table(rows, given.rounds)
    print(text)
    if given.write:
        page = Path(__file__).parents[2] / "docs" / "threats.md"
        words = f"{given.sources} pictures, {given.programs} programs, {given.rounds} rounds.\n"
        words += counts(rows, text) + (f"Not run: {', '.join(missing)}.\n" if missing else "")
        new = f"<!-- red team -->\n{words}\n{text}<!-- end -->\n"
        page.write_text(TABLE.sub(lambda _: new, page.read_text(encoding="utf-8")), encoding="utf-8")
    if any(row["editor"] not in CHEATS and set(row["apart"]) - {UNJUDGED} for row in rows):
        raise SystemExit("an honest editor is accused")
    if any("AT OR ABOVE" in line for line in text.splitlines()):
        raise SystemExit("a dishonest editor ranks at or above paint:wear=0")


if __name__ == "__main__":
    main()
