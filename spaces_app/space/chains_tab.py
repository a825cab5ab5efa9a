"""The tab that shows any step of any chain, and the view of a chain that it shows: words, numbers, curves, end."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

from convergebench.generation.records import FinishedChain, Step, UserError
from convergebench.metric_modules.scores import missing_values
from convergebench.metric_modules.specs import number_columns, optional_columns, retained_columns, score_columns

from ..analysis.cases import Case
from ..analysis.groups import HALF, lowest_quality, outcome_of_case
from ..analysis.reasons import losing_step, loss_clause, lost_outline
from ..palette import SERIES
from .served_dataset import ServedDataset

FIELDS = ("step", "round", "position", "instruction", "status", "reason", "seed", "type", "width", "height", "bytes",
          "latency", "cost")  # fmt: skip
MOST_TEXT = 4000  # characters of what the model said
PICKS = ("surprise", "worst", "longest")


def chain_view(dataset: ServedDataset, chain_id: str) -> dict[str, Any]:
    """Everything about one chain but its pictures."""
    chain = dataset.chain(chain_id)
    steps = dataset.reader.steps_of(chain)
    if not steps:
        raise UserError(f"the steps of chain {chain_id} are not in this dataset")
    scores = dataset.scores_of(chain_id)
    source = dataset.sources.get(chain.source.id)
    case = dataset.case_of.get(chain_id)
    return {
        "chain": chain_id,
        "editor": chain.editor,
        "source": chain.source.id,
        "program": chain.program.id,
        "run": chain.run,
        "kind": chain.source.kind,
        "category": chain.program.category,
        "rounds": chain.rounds,
        "cycle": chain.program.cycle,
        "closes": chain.program.closes,
        "status": chain.status,
        "short_side": chain.short_side,
        "settings": dict(chain.chain.settings),
        "title": source and source["title"],
        "credit": ", ".join(filter(None, (source["attribution"], source["licence"]))) if source else "",
        "name": dataset.display[chain.editor],
        **ending(dataset, case),
        "curves": retained_curves(chain, scores.values()),
        "threshold": HALF,
        "metrics": listed_metrics(dataset),
        "steps": [step_view(step, scores.get(step.step, {}), len(chain.program.cycle)) for step in steps],
    }


def retained_curves(chain: FinishedChain, scores: Iterable[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """What every round's last picture retained, by each metric that has values."""
    last_of_round = {row["round"]: row for row in scores if row["position"] == len(chain.program.cycle)}
    rows: list[Mapping[str, Any]] = [last_of_round.get(round, {}) for round in range(1, chain.rounds + 1)]
    curves = {name: [row.get(column.retained) for row in rows] for name, column in retained_columns().items()}
    return {name: values for name, values in curves.items() if any(value is not None for value in values)}


def listed_metrics(dataset: ServedDataset) -> list[dict[str, Any]]:
    """The metrics whose numbers are listed for each step; those that are drawn have a colour of the palette."""
    drawn = list(retained_columns())
    return [
        {
            "name": column.name,
            "title": column.title,
            "unit": column.unit,
            "colour": drawn.index(column.name) % len(SERIES) if column.name in drawn else None,
        }
        for name, column in score_columns().items()
        if name in number_columns() and name in dataset.scores.column_names
    ]


def step_view(step: Step, scores: Mapping[str, Any], length: int) -> dict[str, Any]:
    """One step; what has no value is null, with the reason where one is known."""
    shown, optional = (*number_columns(), "edit_applied", "edit_undone"), optional_columns()
    return {
        **{name: getattr(step, name) for name in FIELDS},
        "text": step.text[:MOST_TEXT] if step.text else None,
        "details": dict(step.details),
        "closing": step.position == length,
        "scores": {name: scores.get(name) for name in number_columns() if name in scores or name not in optional},
        "retained": {name: scores.get(column.retained) for name, column in retained_columns().items()},
        "applied": scores.get("edit_applied"),
        "undone": scores.get("edit_undone"),
        "undo_ratio": scores.get("undo_ratio"),
        "part_lost": scores.get("part_lost"),
        "outline": lost_outline(scores),
        "reasons": {name: missing.sentence for name, missing in missing_values(scores).items() if name in shown},
    }


def ending(dataset: ServedDataset, case: Case | None) -> dict[str, Any]:
    """How many rounds a chain kept, and in which step and why it was lost; nulls for chains that no headline counts."""
    if case is None or case.group == "additions":
        return {"kept": None, "cause": None, "lost_at": None, "lost_step": None, "clause": "", "quality": []}
    counted = dataset.counted.get(case.group)
    checks = counted.checks_of(case.editor) if counted else ()
    outcome = outcome_of_case(case, checks)
    scores = dataset.scores_of(case.chain.id)
    step = losing_step(case, outcome, scores)
    return {
        "kept": outcome.rounds_kept,
        "cause": outcome.cause,
        "lost_at": outcome.lost_at,
        "lost_step": step,
        "clause": loss_clause(case, outcome, checks, row=scores.get(step or -1)),
        "quality": lowest_quality(case, checks),
    }


def outcome_fields(dataset: ServedDataset, chain_id: str) -> dict[str, Any]:
    """The rounds that a chain kept, and where and to what it was lost."""
    case = dataset.case_of.get(chain_id)
    if case is None or case.group == "additions":
        return {"kept": None, "lost_at": None, "cause": None}
    counted = dataset.counted.get(case.group)
    outcome = outcome_of_case(case, counted.checks_of(case.editor) if counted else ())
    return {"kept": outcome.rounds_kept, "lost_at": outcome.lost_at, "cause": outcome.cause}


def choices(
    dataset: ServedDataset, editor: str, source: str, program: str
) -> tuple[str, list[str], list[str], list[str]]:
    """The chain nearest to what was chosen, and the pictures, programs and runs that can be chosen with it."""
    of_editor = [(s, p) for e, s, p in dataset.runs_of if e == editor]
    if not of_editor:
        raise UserError(f"no editor {editor[:40]!r}; the editors are {', '.join(dataset.names['editor'])}")
    pictures = list(dict.fromkeys(s for s, _ in of_editor))
    source = source if source in pictures else pictures[0]
    programs = [p for s, p in of_editor if s == source]
    program = program if program in programs else programs[0]
    runs = dataset.runs_of[editor, source, program]
    return runs[0], pictures, programs, runs


def pick(dataset: ServedDataset, how: str, editor: str | None = None) -> str:
    """A chain at random, the one that was lost first, or the one that lasted longest; of one editor, or of all."""
    if how not in PICKS:
        raise UserError(f"no pick {str(how)[:40]!r}; it is one of {', '.join(PICKS)}")
    if editor and editor not in dataset.names["editor"]:
        raise UserError(f"no editor {editor[:40]!r}; the editors are {', '.join(dataset.names['editor'])}")
    chains = [chain.id for chain in dataset.chains.values() if editor in (None, "", chain.editor)]
    if how == "surprise":
        return random.choice(chains)
    chosen = set(chains)
    cases = [case for case in dataset.cases if case.chain.id in chosen and case.group in dataset.counted]
    if not editor:  # that an oracle lasts longest and a random editor shortest is no news
        cases = [case for case in cases if dataset.is_tested(case.editor)] or cases
    if not cases:
        raise UserError(dataset.why_nothing_counts)

    def lasted(case: Case) -> tuple[float, float]:
        checks = dataset.counted[case.group].checks_of(case.editor)
        values = [value for value in lowest_quality(case, checks) if value is not None]
        return outcome_of_case(case, checks).kept, sum(values) / len(values) if values else 0.0

    return (min if how == "worst" else max)(cases, key=lasted).chain.id


def telling_chain(dataset: ServedDataset, editor: str) -> str:
    """The chain that an editor's name leads to: the one it lost first, or its first where no headline counts it."""
    try:
        return pick(dataset, "worst", editor)
    except UserError:
        return next(chain.id for chain in dataset.chains.values() if chain.editor == editor)


def find_chain(
    dataset: ServedDataset, editor: str, source: str = "", program: str = "", run: int = 1
) -> dict[str, Any]:
    """The chain nearest to what was chosen, with the pictures, programs and runs that can be chosen with it."""
    found, pictures, programs, runs = choices(dataset, editor, source, program)
    matching = [each for each in runs if dataset.chains[each].run == run]
    return {
        "chain": (matching or [found])[0],
        "sources": pictures,
        "programs": programs,
        "runs": [{"chain": each, "run": dataset.chains[each].run} for each in runs],
    }
