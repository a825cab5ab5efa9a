"""One chain as a visitor sees it: every step with its words, numbers and cost, the curves, and what became of it."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from ..statistics.cases import RETAINED, Case
from ..statistics.fates import HALF, converged, fields, of_curve, quality, role
from .store import Store, Unknown

NUMBERS = ("psnr", "rmse", "ssim", "lpips", "lpips_worst_tile", "clip")
FIELDS = ("step", "round", "position", "instruction", "status", "reason", "seed", "type", "width", "height", "bytes",
          "latency", "cost")  # fmt: skip
TEXT = 4000  # characters of what the model said
PICKS = ("surprise", "worst", "longest")


def view(store: Store, chain: str) -> dict[str, Any]:
    """Everything about one chain but its pictures."""
    row = store.chain(chain)
    scores = store.scores_of(chain)
    found = store.steps.find(row)
    if not found:
        raise Unknown(f"the steps of chain {chain} are not in this dataset")
    source = store.sources.get(row["source"], {})
    own = case_of(store, chain)
    return {
        "chain": chain,
        "editor": row["editor"],
        "source": row["source"],
        "program": row["program"],
        "run": row["run"],
        "kind": row["kind"],
        "category": row["category"],
        "rounds": row["rounds"],
        "cycle": json.loads(row["cycle"] or "[]"),
        "closes": row["closes"],
        "status": row["status"],
        "short_side": row["short_side"],
        "settings": json.loads(row["settings"] or "{}"),
        "title": source.get("title"),
        "credit": ", ".join(str(source[key]) for key in ("attribution", "licence") if source.get(key)),
        **fate(store, own),
        "curves": {name: own.retained[name] for name in RETAINED if any_known(own.retained[name])} if own else {},
        "threshold": HALF,
        "steps": [step(found[number][1], scores.get(number, {}), len(json.loads(row["cycle"] or "[]")))
                  for number in sorted(found)],
    }  # fmt: skip


def step(row: Mapping[str, Any], scores: Mapping[str, Any], length: int) -> dict[str, Any]:
    """One step; what has no value is null, with the reason where one is known."""
    reasons = json.loads(scores.get("reasons") or "{}")
    return {
        **{name: row[name] for name in FIELDS},
        "text": row["text"][:TEXT] if row["text"] else None,
        "details": json.loads(row["details"] or "{}"),
        "closing": row["position"] == length,
        "scores": {name: scores.get(name) for name in NUMBERS},
        "retained": {name: scores.get(f"retained_{name}") for name in RETAINED},
        "applied": scores.get("edit_applied"),
        "undone": scores.get("edit_undone"),
        "reasons": {
            name: reason for name, reason in reasons.items() if name in (*NUMBERS, "edit_applied", "edit_undone")
        },
    }


def fate(store: Store, case: Case | None) -> dict[str, Any]:
    """How many rounds it kept, and what it was lost to; empty for chains that no headline counts."""
    if case is None or case.group == "additions":
        return {"kept": None, "cause": None, "lost_at": None}
    checks = checks_of(store).get(case.group, ())
    own = converged(case, checks)
    return {"kept": own.rounds_kept, "cause": own.cause, "lost_at": own.lost_at}


def checks_of(store: Store) -> dict[str, tuple[str, ...]]:
    """What the headline of each group of programs checks."""
    if "checks" not in store.kept:
        store.kept["checks"] = {group: own.checks for group, own in fields(store.cases, store.excluded).items()}
    return store.kept["checks"]


def case_of(store: Store, chain: str) -> Case | None:
    if "by chain" not in store.kept:
        store.kept["by chain"] = {case.chain: case for case in store.cases}
    return store.kept["by chain"].get(chain)


def any_known(values: Sequence[float | None]) -> bool:
    return any(value is not None for value in values)


def choices(store: Store, editor: str, source: str, program: str) -> tuple[str, list[str], list[str], list[str]]:
    """The chain nearest to what was chosen, and the pictures, programs and runs that can be chosen with it."""
    of_editor = [(s, p) for e, s, p in store.by_choice if e == editor]
    if not of_editor:
        raise Unknown(f"no editor {editor[:40]!r}; the editors are {', '.join(store.names['editor'])}")
    pictures = list(dict.fromkeys(s for s, _ in of_editor))
    source = source if source in pictures else pictures[0]
    programs = [p for s, p in of_editor if s == source]
    program = program if program in programs else programs[0]
    runs = store.by_choice[editor, source, program]
    return runs[0], pictures, programs, runs


def pick(store: Store, how: str, editor: str | None = None) -> str:
    """A chain at random, the one that was lost first, or the one that lasted longest; of one editor, or of all."""
    if how not in PICKS:
        raise Unknown(f"no pick {str(how)[:40]!r}; it is one of {', '.join(PICKS)}")
    if editor and editor not in store.names["editor"]:
        raise Unknown(f"no editor {editor[:40]!r}; the editors are {', '.join(store.names['editor'])}")
    chains = [chain for chain, row in store.chains.items() if editor in (None, "", row["editor"])]
    if how == "surprise":
        return random.choice(chains)
    chosen = set(chains)
    checks = checks_of(store)
    cases = [case for case in store.cases if case.chain in chosen and case.group in checks]
    if not editor:  # an oracle lasts longest and a random editor shortest: neither is news
        cases = [case for case in cases if role(case.editor) == "editor"] or cases
    if not cases:
        raise Unknown("there is no case to count in these scores")

    def lasted(case: Case) -> tuple[float, float]:
        values = [value for value in quality(case, checks[case.group]) if value is not None]
        return converged(case, checks[case.group]).kept, sum(values) / len(values) if values else 0.0

    return (min if how == "worst" else max)(cases, key=lasted).chain


def half_lives(case: Case, threshold: float = HALF) -> dict[str, str]:
    """The half-life of each retained metric of one chain, as a table prints it."""
    known = {name: values for name, values in case.retained.items() if any_known(values)}
    return {name: of_curve(case, values, threshold).text for name, values in known.items()}
