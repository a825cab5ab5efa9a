"""The tab that shows any step of any chain, and the view of a chain that it shows: words, numbers, curves, end."""

import html
import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from convergebench.generation.records import FinishedChain, Step, UserError
from convergebench.metric_modules.scores import missing_values
from convergebench.metric_modules.specs import number_columns, retained_columns, score_columns

from ..palette import SERIES
from ..study.cases import Case
from ..study.groups import HALF, lowest_quality, outcome_of_case
from . import previews
from .errors import explain_errors
from .served_dataset import ServedDataset

FIELDS = ("step", "round", "position", "instruction", "status", "reason", "seed", "type", "width", "height", "bytes",
          "latency", "cost")  # fmt: skip
MOST_TEXT = 4000  # characters of what the model said
NO_OTHER = "none"  # beside a chain
MODES = ("divider", "difference", "step")
GAINS = tuple(map(str, previews.GAINS))
PICKS = ("surprise", "worst", "longest")


def chain_view(dataset: ServedDataset, chain_id: str) -> dict[str, Any]:
    """Everything about one chain but its pictures."""
    chain = dataset.chain(chain_id)
    steps = dataset.reader.steps_of(chain)
    if not steps:
        raise UserError(f"the steps of chain {chain_id} are not in this dataset")
    scores = dataset.scores_of(chain_id)
    source = dataset.reader.sources().get(chain.source.id)
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
        "title": source and source.title,
        "credit": ", ".join(filter(None, (source.attribution, source.licence))) if source else "",
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
    shown = (*number_columns(), "edit_applied", "edit_undone")
    return {
        **{name: getattr(step, name) for name in FIELDS},
        "text": step.text[:MOST_TEXT] if step.text else None,
        "details": dict(step.details),
        "closing": step.position == length,
        "scores": {name: scores.get(name) for name in number_columns()},
        "retained": {name: scores.get(column.retained) for name, column in retained_columns().items()},
        "applied": scores.get("edit_applied"),
        "undone": scores.get("edit_undone"),
        "reasons": {name: missing.sentence for name, missing in missing_values(scores).items() if name in shown},
    }


def ending(dataset: ServedDataset, case: Case | None) -> dict[str, Any]:
    """How many rounds a chain kept, and what it was lost to; nulls for chains that no headline counts."""
    if case is None or case.group == "additions":
        return {"kept": None, "cause": None, "lost_at": None}
    counted = dataset.counted.get(case.group)
    outcome = outcome_of_case(case, counted.checks_of(case.editor) if counted else ())
    return {"kept": outcome.rounds_kept, "cause": outcome.cause, "lost_at": outcome.lost_at}


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
        raise UserError("there is no case to count in these scores")

    def lasted(case: Case) -> tuple[float, float]:
        checks = dataset.counted[case.group].checks_of(case.editor)
        values = [value for value in lowest_quality(case, checks) if value is not None]
        return outcome_of_case(case, checks).kept, sum(values) / len(values) if values else 0.0

    return (min if how == "worst" else max)(cases, key=lasted).chain.id


class Address:
    """The chain and the view that the page's address asks for; anything unknown in it is ignored."""

    def __init__(self, dataset: ServedDataset, query: Mapping[str, str]):
        self.chain = query.get("chain") if query.get("chain") in dataset.chains else None
        beside = query.get("beside")
        self.beside = dataset.chains[beside].editor if beside in dataset.chains else NO_OTHER
        self.step = int(query["step"]) if query.get("step", "").isdecimal() and len(query["step"]) < 7 else None
        self.mode = query["view"] if query.get("view") in MODES else ""
        self.gain = query["gain"] if query.get("gain") in GAINS else ""
        if self.chain is None and query.get("editor") in dataset.names["editor"]:
            self.chain = telling_chain(dataset, query["editor"])


def telling_chain(dataset: ServedDataset, editor: str) -> str:
    """The chain that tells most about an editor: the one that was lost first."""
    try:
        return pick(dataset, "worst", editor)
    except UserError:
        return next(chain.id for chain in dataset.chains.values() if chain.editor == editor)


def viewer(
    dataset: ServedDataset,
    chain: FinishedChain,
    beside: str = NO_OTHER,
    step: int | None = None,
    mode: str = "",
    gain: str = "",
) -> str:
    """The element that viewer.js turns into the view; everything in it is escaped."""
    views = [chain_view(dataset, chain.id)]
    if beside not in (NO_OTHER, chain.editor):
        others = dataset.runs_of.get((beside, chain.source.id, chain.program.id), [])
        matching = [other for other in others if dataset.chains[other].run == chain.run] or others
        if not matching:
            what = f"{chain.program.id} on {chain.source.id}"
            raise UserError(f"{beside} has no chain of {what}; choose another editor")
        views.append(chain_view(dataset, matching[0]))
    data = html.escape(json.dumps(views, allow_nan=False), quote=True)
    at = "" if step is None else step
    return f'<div class="cb-viewer" data-views="{data}" data-step="{at}" data-mode="{mode}" data-gain="{gain}"></div>'


def chains_tab(dataset: ServedDataset) -> list[Any]:
    """The controls and the viewer; gives what a link has to fill in."""
    import gradio as gr

    with gr.Row(elem_classes="cb-filters"):
        editor = gr.Dropdown(dataset.names["editor"], value=None, label="Editor", min_width=150)
        source = gr.Dropdown(dataset.names["source"], value=None, label="Picture", min_width=150)
        program = gr.Dropdown(label="Program", min_width=150)
        run = gr.Dropdown(label="Run", min_width=90, visible=False)
        beside = gr.Dropdown([NO_OTHER, *dataset.names["editor"]], value=NO_OTHER, label="Compare with", min_width=150)
    with gr.Row(elem_classes="cb-picks"):
        buttons = {
            "surprise": gr.Button("Surprise me", size="sm", min_width=110),
            "worst": gr.Button("Worst", size="sm", min_width=90),
            "longest": gr.Button("Best", size="sm", min_width=110),
        }
    shown = gr.HTML(elem_id="viewer", js_on_load=None, apply_default_css=False)
    outputs = [editor, source, program, run, beside, shown]
    about = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 8}

    @explain_errors
    def choose(editor: str, source: str, program: str, beside: str) -> list[Any]:
        chain, *_ = choices(dataset, editor, source or "", program or "")
        return show_chain(dataset, chain, beside)

    @explain_errors
    def choose_run(chain: str, beside: str) -> list[Any]:
        return show_chain(dataset, chain, beside)

    def show_pick(how: str) -> Any:
        return explain_errors(lambda beside: show_chain(dataset, pick(dataset, how), beside))

    gr.on([editor.input, source.input, program.input], choose, [editor, source, program, beside], outputs, **about)
    gr.on([run.input, beside.input], choose_run, [run, beside], outputs, **about)
    for how, button in buttons.items():
        button.click(show_pick(how), beside, outputs, **about)
    return outputs


def show_chain(
    dataset: ServedDataset,
    chain_id: str,
    beside: str = NO_OTHER,
    step: int | None = None,
    mode: str = "",
    gain: str = "",
) -> list[Any]:
    """The values of all controls and of the viewer for one chain; only editors with the same case can be beside it."""
    import gradio as gr

    chain = dataset.chain(chain_id)
    source, program = chain.source.id, chain.program.id
    _, sources, programs, runs = choices(dataset, chain.editor, source, program)
    others = [name for name in dataset.names["editor"]
              if name != chain.editor and (name, source, program) in dataset.runs_of]  # fmt: skip
    beside = beside if beside in others else NO_OTHER
    return [
        gr.Dropdown(value=chain.editor),
        gr.Dropdown(sources, value=source),
        gr.Dropdown(programs, value=program),
        gr.Dropdown([(str(dataset.chains[each].run), each) for each in runs], value=chain_id, visible=len(runs) > 1),
        gr.Dropdown([NO_OTHER, *others], value=beside),
        viewer(dataset, chain, beside, step, mode, gain),
    ]
