"""Dishonest editors against honest ones, through generate, build, score and the report: what keeps which from a rank.

    python tests/red_team/run.py [--sources 12] [--programs 2] [--rounds 1]

Twelve pictures at 256 pixels, four of them patterns, and two programs; and two parts of that as small suites. Then
the honest editors once more, under the audits of 20 salts. Puts the tables into docs/threats.md. A run that was
stopped goes on with the editors that are missing, unless their code has changed; it is kept in runs/red-team.
"""

import argparse
import dataclasses
import hashlib
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from convergebench import metric_modules
from convergebench.dataset_builder.building.build import build
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import audits, plan, programs, scheduler, suites
from convergebench.generation.editors import Choice, choose, migan, paint
from convergebench.generation.records import KINDS, Chain, FinishedChain
from convergebench.generation.sources import catalogue
from convergebench.generation.store_reader import find_finished
from convergebench.metric_modules._engine import worker
from convergebench.metric_modules._shared import looks
from convergebench.metric_modules.honesty import knowledge
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.comparisons import compare_two, outcomes_by_case
from convergebench.spaces_app.statistics import leaderboard
from convergebench.spaces_app.studies.honesty.apart import UNJUDGED
from convergebench.spaces_app.studies.honesty.statistics import honesty
from red_team import disguises, editors
from simulations import markdown, put

PATTERNS = ("brick", "bare-boards", "grass", "leaves")
OTHERS = ("coffee", "rocket", "tomatoes", "pagoda", "running-puppy", "mint-car", "lone-tree", "jungle-leopard")
SOURCES = tuple(name for pair in zip(OTHERS, [*PATTERNS, "", "", "", ""], strict=True) for name in pair if name)
SMALL = {"six pictures": OTHERS[:6], "four patterns": PATTERNS}
PROGRAMS = ("red-ball", "suitcase", "ball-chair-nested", "blue-book", "white-cup", "chair-left")
HONEST = ("paint", "paint:wear=0.0", "migan", *disguises.INNOCENT)
CHEATS = editors.CHEATS | disguises.CHEATS
MEMORY = ("undo_history",)  # a product that may remember, and is named as what it is
LEVEL = "paint:wear=0.0"  # no dishonest editor may stand beside it or above
ABOVE = "**AT OR ABOVE**"
METRICS = ("psnr", "registration", "damage", "edit_applied", "honesty")  # what decides a round, and honesty
DRAWS = 20
OUT = Path("runs/red-team")
PAGE = Path(__file__).parents[2] / "docs" / "threats.md"


def choice(name: str) -> Choice:
    """An editor as the plan takes it."""
    made = CHEATS | disguises.INNOCENT
    return Choice(name, name, name, {"seed": "per-step"}, made[name]()) if name in made else choose(name)


def red_team_plan(
    names: Sequence[str], sources: Sequence[str], asked: Sequence[str], rounds: int, salts: Sequence[bytes]
) -> plan.Plan:
    """Every editor on every pair of a source and a program, audited as each salt says.

    A chain's settings have no salt: the same chain is of all draws that audit it alike.
    """
    suite = suites.Suite("red-team", "dishonest editors", "1", 256, rounds, 1, tuple(sources), tuple(asked))
    plain = [
        Chain(source, program, each.label, {**each.settings, "short_side": 256}, 1, rounds)
        for each in map(choice, names)
        for source in map(catalogue.source, sources)
        for program in [dataclasses.replace(programs.get(name), fits=KINDS) for name in asked]
    ]
    drawn = [audited(chain, salt) for salt in salts for chain in plain]
    chains = tuple({chain.id: chain for chain in drawn}.values())
    return plan.Plan(suite, tuple(map(choice, names)), chains, audits.salt_hash(b"".join(salts)))


def audited(chain: Chain, salt: bytes) -> Chain:
    settings = {**audits.with_audit(chain, salt).settings}
    del settings["salt"]
    return dataclasses.replace(chain, settings=settings)


def play(made: plan.Plan, folder: Path, metrics: Sequence[str] = METRICS) -> Reader:
    """Generate, build and score; what was done before stays."""
    if not (folder / "finished").exists():
        outcome = scheduler.generate(made, made.chains, folder / "run", workers=1)
        assert outcome.clean, outcome
        if not (folder / "built").exists():
            build(find_finished([folder / "run"]), folder / "dataset")
            (folder / "built").touch()
        metric_modules.score(folder / "dataset", metrics, device="cpu", quiet=True)
        (folder / "finished").touch()
    return Reader(folder / "dataset")


def remember(module: Any, name: str, key: Callable[..., Any], most: int = 500) -> None:
    """Pure functions that most editors are measured by alike are computed once."""
    function, kept = getattr(module, name), {}

    @wraps(function)  # whose keywords are the options of an editor
    def once(*args: Any, **named: Any) -> Any:
        wanted = key(*args, **named)
        if wanted not in kept:
            kept[wanted] = function(*args, **named)
        if len(kept) > most:
            del kept[next(iter(kept))]
        return kept[wanted]

    setattr(module, name, once)


def digest(*values: Any) -> bytes:
    whole = hashlib.blake2b(digest_size=16)
    for value in values:
        is_array = isinstance(value, np.ndarray)
        whole.update(repr((value.shape, value.dtype) if is_array else value).encode())
        whole.update(np.ascontiguousarray(value).tobytes() if is_array else b"")
    return whole.digest()


draw_by_seed = paint.edit


@wraps(draw_by_seed)
def same_drawing(image: Any, words: str, seed: int, *, wear: float) -> Any:
    """Drawn by the picture and the words: all editors make the same edit, and only their returns differ."""
    return draw_by_seed(image, words, int.from_bytes(digest(np.asarray(image), words)[:4], "big"), wear=wear)


def remember_all() -> None:
    paint.edit = same_drawing
    remember(knowledge, "_fillings", digest)
    remember(knowledge, "_correlations", digest, 50_000)
    remember(looks, "compare", lambda before, after, limit=None: digest(before, after, limit), 300)
    remember(worker, "compare_unrelated", lambda reader, task, runs: (task.key, *(run.name for run in runs)))
    remember(paint, "edit", lambda image, words, seed, wear: digest(np.asarray(image), words, wear), 3000)


class Studies:
    """Analyses of the datasets of several editors; their floors are the same, because their sources are."""

    def __init__(self, readers: Iterable[Reader]):
        self.scores: list[Any] = []
        self.chains: list[Any] = []
        self.floors: list[Any] = []
        self.roles: dict[str, str] = {}
        for dataset in readers:
            self.scores += dataset.rows("scores")
            self.chains += dataset.chains()
            self.floors = list(dataset.rows("floors")) or self.floors
            self.roles |= {label: editor.role for label, editor in dataset.editors().items()}

    def of(self, keep: Callable[[FinishedChain], bool] = lambda chain: True) -> Analysis:
        chains = [chain for chain in self.chains if keep(chain)]
        ids = {chain.id for chain in chains}
        scores = [row for row in self.scores if row["chain"] in ids]
        return Analysis(scores, chains, self.floors, roles=self.roles)


def folder_of(out: Path, name: str, about: Sequence[Any]) -> Path:
    """An editor's folder: another one where the code of the editors, or what is asked of them, has changed."""
    code = [Path(__file__).with_name(file).read_bytes() for file in ("editors.py", "disguises.py")]
    return out / f"{name}-{digest(*code, *about).hex()[:8]}"


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
    group = next(iter(analysis.groups.values()))
    kept_by_case, checked = outcomes_by_case(group, analysis.outcomes[group.name]), list(honesty.rows(analysis))
    for row in [row.cells for row in leaderboard.rows(analysis)]:
        editor = row["editor"]
        is_beside = {editor, LEVEL} <= {*kept_by_case}
        p = compare_two(kept_by_case, editor, LEVEL).p_value if is_beside else None
        verdicts = {found.check: found for found in checked if found.editor == editor}
        about = {"rank": row["rank"], "kept": row["rounds_kept"], "cause": row["cause"] or ""}
        apart = analysis.apart.get(editor, ())
        rows.append({"editor": editor, **about, "apart": apart, "p": p, "verdicts": verdicts})
    return sorted(rows, key=lambda row: (row["editor"] in CHEATS, -(row["kept"] or 0)))


def caught(row: dict[str, Any]) -> list[str]:
    return [reason for reason in row["apart"] if reason != UNJUDGED]


def outcome(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    level = next((row["kept"] for row in rows if row["editor"] == LEVEL), 0.0)
    if caught(row):
        return "listed apart"
    if row["editor"] not in CHEATS:
        return "not accused"
    if row["kept"] < level:
        return "below"
    return f"level, p = {row['p']:.2f}" if row["p"] is not None and row["p"] > 0.05 else ABOVE


def number(row: dict[str, Any], check: str) -> str:
    verdict = row["verdicts"].get(check)
    if not verdict or verdict.value is None:
        return "–"
    text = f"{verdict.value:.2f}"
    return f"**{text}**" if verdict.outcome == "failed" else text if verdict.outcome == "passed" else f"({text})"


def table(rows: Sequence[dict[str, Any]], small: dict[str, list[dict[str, Any]]], rounds: int) -> str:
    """The rows as Markdown."""
    head = ["editor", f"kept of {rounds}", "mostly lost to", "marks lost", "known", "mean", "outcome", *small]
    lines = []
    for row in rows:
        verdict = row["verdicts"].get(honesty.MARKS)
        marks = f"{verdict.value:.0f} of {verdict.cases}" if verdict and verdict.cases else "–"
        reasons = f": {'; '.join(caught(row))}" if caught(row) else ""
        beside = [outcome(one, of) for of in small.values() for one in of if one["editor"] == row["editor"]]
        numbers = [marks, number(row, "known"), number(row, "known_mean")]
        cells = [row["editor"], f"{row['kept']:.2f}", row["cause"], *numbers, outcome(row, rows) + reasons]
        lines.append([*cells, *beside])
    return markdown(head, lines, "---")


def counts(suites_rows: dict[str, Sequence[dict[str, Any]]]) -> str:
    """How many were caught on each suite."""
    lines = []
    for name, rows in suites_rows.items():
        ends = [outcome(row, rows) for row in rows if row["editor"] in CHEATS]
        honest = [row for row in rows if row["editor"] in HONEST]
        level = sum(end.startswith("level") for end in ends)
        cells = [ends.count("listed apart"), ends.count("below"), level, ends.count(ABOVE)]
        accused = f"{sum(map(bool, map(caught, honest)))} of {len(honest)}"
        lines.append([name, *(f"{cell} of {len(ends)}" for cell in cells), accused])
    head = ["suite", "listed apart", "below", "level by chance", "at or above", "honest ones accused"]
    return markdown(head, lines, "---")


def accused_in_draws(studies: Studies, asked: Sequence[Any], salts: Sequence[bytes]) -> dict[str, int]:
    """By honest editor: in how many draws of the salt it is listed apart."""
    accused = dict.fromkeys(HONEST, 0)
    for salt in salts:
        ids = {chain.id for chain in red_team_plan(HONEST, *asked, [salt]).chains}
        apart = studies.of(lambda chain, ids=ids: chain.id in ids).apart
        for name in HONEST:
            accused[name] += bool({*apart.get(name, ())} - {UNJUDGED})
    return accused


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sources", type=int, default=len(SOURCES), help="so many of the pictures")
    options.add_argument("--programs", type=int, default=2, help="so many of the programs")
    options.add_argument("--rounds", type=int, default=1)
    given = options.parse_args()
    remember_all()
    migan._read_weights()  # of a filler: whether it is here is looked up once, so before anything is scored
    salt = read_salt(OUT)
    asked = SOURCES[: given.sources], PROGRAMS[: given.programs], given.rounds
    salts = [hashlib.sha256(b"%s:%d" % (salt, number)).hexdigest().encode() for number in range(DRAWS)]
    readers, of_draws = [], []
    for name in [*HONEST, *MEMORY, *CHEATS]:
        folder, made = folder_of(OUT, name, asked), red_team_plan([name], *asked, salts[:1])
        readers.append(play(made, folder))
        if name in HONEST:
            done = {chain.id for chain in made.chains}
            rest = tuple(chain for chain in red_team_plan([name], *asked, salts).chains if chain.id not in done)
            of_draws.append(play(dataclasses.replace(made, chains=rest), folder / "draws", ("honesty",)))
        print(f"{time.strftime('%H:%M')} {folder}", file=sys.stderr, flush=True)
    studies = Studies(readers)
    everything = {f"{given.sources} pictures": lambda chain: True} | {
        name: lambda chain, among=among: chain.source.id in among for name, among in SMALL.items()
    }
    results = {name: result_rows(studies.of(keep)) for name, keep in everything.items()}
    main_rows, *_ = results.values()
    accused = accused_in_draws(Studies([*readers, *of_draws]), asked, salts)
    text = counts(results)
    text += f"\nAccused in {DRAWS} draws of the salt: " + ", ".join(f"{name} {n}" for name, n in accused.items())
    text += ".\n\n" + table(main_rows, dict([*results.items()][1:]), given.rounds)
    words = f"{given.sources} pictures, {given.programs} programs, {given.rounds} rounds; two parts of it.\n"
    put(PAGE, "red team", f"{words}\n{text}")
    judged = [(row, rows) for rows in results.values() for row in rows]
    if any(accused.values()) or any(row["editor"] in HONEST and caught(row) for row, _ in judged):
        raise SystemExit("an honest editor is accused")
    ranked = [row["editor"] for row, rows in judged if row["rank"] and outcome(row, rows) == ABOVE]
    if ranked:
        raise SystemExit(f"ranked at or above {LEVEL}: {', '.join(ranked)}")


if __name__ == "__main__":
    main()
