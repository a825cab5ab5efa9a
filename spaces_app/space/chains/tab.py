"""The viewer: any step of any chain, with its instruction, scores and curves, and how the chain ended."""

import random
from collections.abc import Iterable

from convergebench.generation.records import FinishedChain, Step, UserError
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.specs import number_columns, optional_columns, retained_columns, score_columns

from ...analysis.cases import Case
from ...analysis.groups import HALF, lowest_quality, outcome_of_case
from ...analysis.reasons import lost_outline
from ...palette import SERIES
from ..endings import ending
from ..previews import previews_of
from ..served_dataset import DAMAGED_FILE, Answer, NoPicture, ServedDataset, damage_sentence

TITLE, ORDER = "Viewer", 50
_FIELDS = ("step", "round", "position", "instruction", "status", "reason", "seed", "type", "width", "height", "bytes",
           "latency", "cost")  # fmt: skip
_MOST_TEXT = 4000  # characters of the model's answer in words
_MOST_CHAINS = 500  # in one answer
_PICKS = ("surprise", "worst", "longest")


def chains(dataset: ServedDataset, editor: str = "", source: str = "", program: str = "", start: int = 0) -> list[dict]:
    """Chains that match, 500 at a time: what was asked, how they ended, and where and why they were lost."""
    matching = [
        chain
        for chain in dataset.chains.values()
        if editor in ("", chain.editor) and source in ("", chain.source.id) and program in ("", chain.program.id)
    ]
    rows = []
    for chain in matching[max(start, 0) :][:_MOST_CHAINS]:
        case = dataset.case_of.get(chain.id)
        outcome = outcome_of_case(case, dataset.checks_of(case)) if case and chain.program.closes else None
        rows.append(
            {
                "chain": chain.id,
                "editor": chain.editor,
                "source": chain.source.id,
                "program": chain.program.id,
                "run": chain.run,
                "rounds": chain.rounds,
                "steps": chain.calls,
                "status": chain.status,
                "category": chain.program.category,
                "kind": chain.source.kind,
                "kept": outcome.rounds_kept if outcome else None,
                "lost_at": outcome.lost_at if outcome else None,
                "cause": outcome.cause if outcome else None,
            }
        )
    return rows


def chain(dataset: ServedDataset, chain: str) -> dict:
    """One chain in full: every step's words, seed, scores, cost and status, its curves and what became of it."""
    finished = dataset.chain(chain)
    steps = dataset.reader.steps_of(finished)
    if not steps:
        raise UserError(f"the steps of chain {chain} are not in this dataset")
    scores = dataset.scores_of(chain)
    source = dataset.sources.get(finished.source.id)
    length = len(finished.program.cycle)
    return {
        "chain": chain,
        "editor": finished.editor,
        "source": finished.source.id,
        "program": finished.program.id,
        "run": finished.run,
        "kind": finished.source.kind,
        "category": finished.program.category,
        "rounds": finished.rounds,
        "cycle": finished.program.cycle,
        "closes": finished.program.closes,
        "status": finished.status,
        "short_side": finished.short_side,
        "settings": dict(finished.chain.settings),
        "title": source and source["title"],
        "credit": ", ".join(filter(None, (source["attribution"], source["licence"]))) if source else "",
        "name": dataset.display[finished.editor],
        **ending(dataset, dataset.case_of.get(chain)),
        "curves": _retained_curves(finished, scores.values()),
        "threshold": HALF,
        "metrics": _listed_metrics(dataset),
        "steps": [_step_view(step, scores.get(step.step), length) for step in steps],
    }


def _retained_curves(chain: FinishedChain, scores: Iterable[ScoreRow]) -> dict[str, list[float | None]]:
    """Retained quality after every round, by each metric that has values."""
    last_of_round = {row.round: row for row in scores if row.position == len(chain.program.cycle)}
    rows = [last_of_round.get(round) for round in range(1, chain.rounds + 1)]
    curves = {
        name: [row.value(column.retained) if row else None for row in rows]
        for name, column in retained_columns().items()
    }
    return {name: values for name, values in curves.items() if any(value is not None for value in values)}


def _listed_metrics(dataset: ServedDataset) -> list[Answer]:
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


def _step_view(step: Step, scores: ScoreRow | None, length: int) -> Answer:
    """One step; what has no value is null, with the reason if one is known."""
    scores = scores or ScoreRow.from_scores({})
    numbers, optional = number_columns(), optional_columns()
    shown = (*numbers, "edit_applied", "edit_undone")
    return {
        **{name: getattr(step, name) for name in _FIELDS},
        "text": step.text[:_MOST_TEXT] if step.text else None,
        "details": dict(step.details),
        "closing": step.position == length,
        "scores": {
            name: scores.value(name) for name in numbers if name not in optional or scores.value(name) is not None
        },
        "retained": {name: scores.value(column.retained) for name, column in retained_columns().items()},
        "applied": scores.edit_applied,
        "undone": scores.edit_undone,
        "undo_ratio": scores.undo_ratio,
        "part_lost": scores.part_lost,
        "outline": lost_outline(scores),
        "reasons": {name: missing.sentence for name, missing in scores.missing.items() if name in shown},
    }


def step(dataset: ServedDataset, chain: str, step: int) -> dict:
    """One step: its words and numbers, and the address of its picture on this server."""
    answered = dataset.step(chain, step)
    length = len(dataset.chain(chain).program.cycle)
    return _step_view(answered, dataset.scores_of(chain).get(step), length) | picture(dataset, chain, step)


def picture(dataset: ServedDataset, chain: str, step: int, kind: str = "view", gain: int = 8, at: str = "") -> dict:
    """The address of a picture: thumb, small, view, difference (amplified by gain), detail or received (the bytes).

    A detail shows the place that changed most in the step that `at` names, as "CHAIN STEP".
    """
    try:
        path = previews_of(dataset).path(chain, step, kind, gain, at)
    except NoPicture as error:
        return {"url": None, "reason": str(error)}
    except DAMAGED_FILE as error:
        return {"url": None, "reason": damage_sentence(error)}
    return {"url": f"/pictures/{path.parent.name}/{path.name}", "reason": None}


def pick(dataset: ServedDataset, how: str = "surprise", editor: str = "") -> str:
    """The id of a chain: surprise, worst or longest; of one editor, or of all."""
    if how not in _PICKS:
        raise UserError(f"no pick {how[:40]!r}; it must be one of {', '.join(_PICKS)}")
    dataset.check_editors([editor] if editor else [])
    chains = [chain.id for chain in dataset.chains.values() if editor in ("", chain.editor)]
    if how == "surprise":
        return random.choice(chains)
    chosen = set(chains)
    cases = [case for case in dataset.cases if case.chain.id in chosen and case.group in dataset.counted]
    if not editor:  # a perfect baseline lasts longest and a random one shortest by definition
        cases = [case for case in cases if dataset.is_tested(case.editor)] or cases
    if not cases:
        raise UserError(dataset.why_nothing_counts)

    def lasted(case: Case) -> tuple[float, float]:
        checks = dataset.checks_of(case)
        values = [value for value in lowest_quality(case, checks) if value is not None]
        return outcome_of_case(case, checks).kept, sum(values) / len(values) if values else 0.0

    return (min if how == "worst" else max)(cases, key=lasted).chain.id


def find(dataset: ServedDataset, editor: str, source: str = "", program: str = "", run: int = 1) -> dict:
    """The chain nearest to what was chosen, with the pictures, programs and runs that can be chosen with it."""
    dataset.check_editors([editor])
    of_editor = [(picture, program_id) for name, picture, program_id in dataset.runs_of if name == editor]
    pictures = list(dict.fromkeys(picture for picture, _ in of_editor))
    source = source if source in pictures else pictures[0]
    programs = [program_id for picture, program_id in of_editor if picture == source]
    program = program if program in programs else programs[0]
    runs = [{"chain": name, "run": dataset.chains[name].run} for name in dataset.runs_of[editor, source, program]]
    nearest = next((row for row in runs if row["run"] == run), runs[0])
    return {"chain": nearest["chain"], "sources": pictures, "programs": programs, "runs": runs}


def place(dataset: ServedDataset, chain: str, step: int) -> list[float]:
    """Around the place that changed most in a step: left, top, width and height as shares of the picture."""
    return previews_of(dataset).changed_box(chain, step)


PUBLIC = (chains, chain, step, picture, pick)
FOR_THE_PAGE = (find, place)
