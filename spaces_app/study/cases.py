"""One case is one chain as the statistics see it: what each round's return kept, and whether its edits were made."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.scores import Fault, missing_values

from .floors import Floors

RETAINED = ("rmse", "ssim", "lpips", "clip")
RAW = ("psnr", "rmse", "ssim", "lpips", "clip")
QUALITIES = ("rmse", "ssim", "lpips")
GROUPS = {
    "round trips": "programs that ask for a change and take it back",
    "replication": "programs that ask for no change",
    "restoration": "programs that restore a degraded picture, against the undegraded one",
    "additions": "programs that only add, where no round ends where it began",
}

Row = Mapping[str, Any]
Values = list[float | None]
CaseKey = tuple[str, str, int]  # source, program, run


@dataclass(frozen=True)
class Case:
    """One chain. Lists hold one value per planned round; None where there is none."""

    chain: str
    editor: str
    source: str
    program: str
    run: int
    kind: str
    category: str
    reversibility: str
    group: str
    suite: str
    rounds: int
    end: str  # complete, shrunk, refused, no_image or failed
    end_round: int | None
    audit: str | None
    retained: dict[str, Values]
    raw: dict[str, Values]
    moved: Values  # RMSE to the return before, where the scores hold it
    worst_tile: Values
    lpips_floor: float | None
    applied: list[bool | None] | None
    undone: list[bool | None] | None
    seconds: float | None  # per round
    cost: float | None  # US dollars per round

    @property
    def key(self) -> CaseKey:
        """What two editors have in common when they did the same thing."""
        return self.source, self.program, self.run

    @property
    def quality(self) -> Values:
        """The lowest of the retained qualities that were computed for this chain, round by round."""
        lists = [self.retained[name] for name in QUALITIES if any(value is not None for value in self.retained[name])]
        return [None if None in values else min(values) for values in zip(*lists, strict=True)]


def read_cases(
    scores: Iterable[Row], chains: Iterable[Row], zeros: Floors, calls: Iterable[Row] = ()
) -> tuple[list[Case], list[str]]:
    """Every chain that has scores, and the ids of those that count twice or have none.

    Of several chains of one editor, source, program and run (from several datasets) the longest planned counts.
    """
    by_chain: dict[str, list[Row]] = defaultdict(list)
    for row in scores:
        by_chain[row["chain"]].append(row)
    spent: dict[str, list[Row]] = defaultdict(list)
    for row in calls:
        if row["round"] and row["status"] == "ok":
            spent[row["chain"]].append(row)
    found: dict[tuple[str, str, str, int], Case] = {}
    left_out = []
    for row in sorted(chains, key=lambda row: (-(row["rounds"] or 0), row["chain"])):
        place = (row["editor"], row["source"], row["program"], row["run"])
        if place in found or row["chain"] not in by_chain:
            left_out.append(row["chain"])
        else:
            found[place] = case(row, by_chain[row["chain"]], zeros, spent[row["chain"]])
    return list(found.values()), left_out


def case(chain: Row, scores: Sequence[Row], zeros: Floors, calls: Sequence[Row]) -> Case:
    """One chain from its row and the rows of its steps."""
    cycle = json.loads(chain["cycle"])
    rounds = chain["rounds"] or max(row["round"] for row in scores)
    parts = roles(cycle, bool(chain["closes"]))
    at: dict[tuple[int, int], Row] = {(row["round"], row["position"]): row for row in scores}
    returns = [at.get((round, len(cycle)), {}) for round in range(1, rounds + 1)]
    last = max(row["round"] for row in scores)
    settings = json.loads(chain["settings"] or "{}")

    def judged(kind: str, column: str) -> list[bool | None] | None:
        places = [place for place, part in enumerate(parts, 1) if part.kind == kind]
        if not places:
            return None
        return [all_of([at.get((round, place), {}) for place in places], column) for round in range(1, rounds + 1)]

    return Case(
        **{name: chain[name] for name in ("chain", "editor", "source", "program", "run", "kind", "category", "suite")},
        reversibility=chain["reversibility"],
        group=group(chain, [part.kind for part in parts]),
        rounds=rounds,
        end=chain["status"],
        end_round=None if chain["status"] == "complete" else last,
        audit=settings.get("audit"),
        retained={name: [row.get(f"retained_{name}") for row in returns] for name in RETAINED},
        raw={name: [row.get(name) for row in returns] for name in RAW},
        moved=[row.get("rmse_previous") for row in returns],
        worst_tile=[row.get("lpips_worst_tile") for row in returns],
        lpips_floor=zeros.floor(chain, "lpips"),
        applied=judged("forward", "edit_applied"),
        undone=judged("undo", "edit_undone"),
        seconds=per_round([row.get("latency") for row in calls], len(cycle)),
        cost=per_round([row.get("cost") for row in calls], len(cycle)),
    )


def group(chain: Row, kinds: Sequence[str]) -> str:
    if not chain["closes"]:
        return "additions"
    if chain["category"] == "restoration":
        return "restoration"
    return "round trips" if "forward" in kinds else "replication"


def all_of(rows: Sequence[Row], column: str) -> bool | None:
    """Whether all edits of a round were made, or taken back; those that nobody can tell count only if no other can."""
    values = [row.get(column) for row in rows]
    if False in values:
        return False
    told = [value for value, row in zip(values, rows, strict=True) if value is not None or not untold(row, column)]
    return None if None in told or not told else True


def untold(row: Row, column: str) -> bool:
    """Whether nobody can tell, which is no fault of the editor."""
    missing = missing_values(row).get(column)
    return missing is not None and missing.fault is Fault.NOBODY


def per_round(values: Sequence[float | None], length: int) -> float | None:
    known = [value for value in values if value is not None]
    return length * sum(known) / len(known) if known else None
