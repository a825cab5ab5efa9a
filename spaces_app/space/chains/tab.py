"""The viewer: any step of any chain, and how the chain ended."""

import random
from collections.abc import Collection, Mapping, Sequence

from convergebench.generation.records import FinishedChain, Step, UserError
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.specs import optional_columns, retained_columns, score_columns, shown_columns

from ...analysis.cases import Case
from ...analysis.groups import HALF, outcome_of_case
from ...analysis.program_groups import group_named, group_of_chain, step_label
from ...analysis.reasons import lost_outline
from ...palette import SERIES
from ..headline import Choice, ending_of
from ..previews import previews_of
from ..served_dataset import DAMAGED_FILE, Answer, NoPicture, ServedDataset, check_allowed, explain

TITLE, ORDER = "Viewer", 50
_FIELDS = ("step", "round", "position", "instruction", "status", "reason", "seed", "type", "width", "height", "bytes",
           "latency", "cost")  # fmt: skip
_MOST_TEXT = 4000  # characters of the model's answer in words
_PICKS = ("surprise", "worst", "longest")


def chain_facts(chain: FinishedChain) -> Answer:
    return {
        "chain": chain.id,
        "editor": chain.editor,
        "source": chain.source.id,
        "program": chain.program.id,
        "run": chain.run,
        "kind": chain.source.kind,
        "category": chain.program.category,
        "rounds": chain.rounds,
        "cycle": chain.program.cycle,
        "steps": chain.calls,
        "status": chain.status,
    }


def chain(dataset: ServedDataset, chain: str, metric: str = "convergence", threshold: float = HALF) -> dict:
    """One chain in full: every step's words, seed, scores, cost and status, its curves and what became of it."""
    finished = dataset.chain(chain)
    steps = dataset.reader.steps_of(finished)
    if not steps:
        raise UserError(f"the steps of chain {chain} are not in this dataset")
    source = dataset.sources.get(finished.source.id)
    view = chain_view(finished, steps, dataset.scores_of(chain), dataset.score_table.column_names)
    return {
        **view,
        **ending_of(dataset, chain, Choice(metric=metric, threshold=threshold)),
        "title": source and source["title"],
        "credit": ", ".join(filter(None, (source["attribution"], source["licence"]))) if source else "",
        "name": dataset.display[finished.editor],
        "threshold": threshold,
        "against": group_named(group_of_chain(finished)).reference,
    }


def chain_view(
    chain: FinishedChain, steps: Sequence[Step], scores: Mapping[int, ScoreRow], columns: Collection[str]
) -> Answer:
    length = len(chain.program.cycle)
    returns = [scores.get(round * length) for round in range(1, chain.rounds + 1)]
    retained = retained_columns()
    curves = {
        name: [row.value(column.retained) if row else None for row in returns]
        for name, column in retained.items()
    }
    return chain_facts(chain) | {
        "curves": {name: values for name, values in curves.items() if any(value is not None for value in values)},
        "metrics": [
            {
                "name": column.name,
                "title": column.title,
                "unit": column.unit,
                "colour": list(retained).index(name) % len(SERIES) if name in retained else None,
            }
            for name, column in score_columns().items()
            if name in shown_columns("curve", "number") and name in columns
        ],
        "steps": [_step_view(chain, step, scores.get(step.step)) for step in steps],
    }


def _step_view(chain: FinishedChain, step: Step, scores: ScoreRow | None) -> Answer:
    length = len(chain.program.cycle)
    is_end = step.position in (0, length)  # a step inside a round is called by what it was asked
    scores = scores or ScoreRow.from_scores({})
    numbers, optional = shown_columns("curve", "number"), optional_columns()
    shown = (*numbers, "edit_changed", "edit_as_asked", "edit_undone")
    return {
        **{name: getattr(step, name) for name in _FIELDS},
        "label": step_label(group_of_chain(chain), step.round) if is_end else step.instruction,
        "text": step.text[:_MOST_TEXT] if step.text else None,
        "details": dict(step.details),
        "closing": step.position == length,
        "scores": {
            name: scores.value(name) for name in numbers if name not in optional or scores.value(name) is not None
        },
        "retained": {name: scores.value(column.retained) for name, column in retained_columns().items()},
        "changed": scores.edit_changed,
        "as_asked": scores.edit_as_asked,
        "undone": scores.edit_undone,
        "undo_ratio": scores.undo_ratio,
        "part_lost": step.position == length and scores.damage_outline is not None,
        "outline": lost_outline(scores) if step.position == length else [],
        "reasons": {name: missing.sentence for name, missing in scores.missing.items() if name in shown},
    }


def picture(
    dataset: ServedDataset, chain: str, step: int, kind: str = "view", gain: int = 8, at: str = ""
) -> dict:
    """The address of a picture: thumb, small, view, difference (amplified by gain), crop, reference or received.

    A crop holds what changed most in the first step and in the step that `at` names, as "CHAIN
    STEP"; `reference` is what the chain is compared with, `received` the bytes as they came.
    """
    try:
        path = previews_of(dataset).path(chain, step, kind, gain, at)
    except (NoPicture, *DAMAGED_FILE) as error:
        return {"url": None, "reason": explain(error)}
    return {"url": f"/pictures/{path.parent.name}/{path.name}", "reason": None}


def pick(dataset: ServedDataset, how: str = "surprise", editor: str = "") -> str:
    """The id of a chain: surprise, worst or longest; of one editor, or of all."""
    check_allowed("pick", [how], _PICKS)
    dataset.check_editors([editor] if editor else [])
    if how == "surprise":
        return random.choice([chain.id for chain in dataset.chains if editor in ("", chain.editor)])
    cases = [case for case in dataset.cases if editor in ("", case.editor) and case.group in dataset.groups]
    if not editor:  # a perfect baseline lasts longest and a random one shortest by definition
        cases = [case for case in cases if dataset.is_tested(case.editor)] or cases
    if not cases:
        return next(chain.id for chain in dataset.chains if editor in ("", chain.editor))

    def lasted(case: Case) -> tuple[float, float]:
        checks = dataset.checks_of(case)
        values = [value for value in case.quality(checks) if value is not None]
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
    runs = [
        {"chain": name, "run": dataset.chain_of[name].run} for name in dataset.runs_of[editor, source, program]
    ]
    nearest = next((row for row in runs if row["run"] == run), runs[0])
    return {"chain": nearest["chain"], "sources": pictures, "programs": programs, "runs": runs}


PUBLIC = (find, chain, picture, pick)
