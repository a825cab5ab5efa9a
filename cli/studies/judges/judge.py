"""`convergebench judge`: asks a vision or language model about the steps of a dataset, and stores its answers."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..._shared import json_option

if TYPE_CHECKING:
    from convergebench.metric_modules._judges.run import Outcome


SECTION = "ask models"


@click.command("judge", short_help="Ask a model about the steps of a dataset.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--judge",
    "spec",
    required=True,
    help="openai, gemini, transformers or paint, with options such as openai:base_url=http://localhost:8000/v1,model=NAME.",
)
@click.option(
    "--question",
    "names",
    multiple=True,
    required=True,
    help="A question's name, or your own ./mine.toml; repeatable.",
)
@click.option("--editor", "editors", multiple=True, help="Only chains of this editor, as tables name it; repeatable.")
@click.option("--program", "programs", multiple=True, help="Only chains of this program; repeatable.")
@click.option("--limit", type=click.IntRange(1), help="At most N steps, a random choice that stays the same.")
@click.option(
    "--calibration",
    type=click.IntRange(0),
    help="Size of the fixed sample that is asked again in each run. Default: 120.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Ask the fixed sample again although nothing is missing, to see whether the judge drifts.",
)
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Stop before this judge has cost more US dollars on this dataset."
)
@click.option(
    "--plan", "only_plan", is_flag=True, help="Print what would be asked and the most it can cost; ask nothing."
)
@json_option
def command(
    dataset: Path,
    spec: str,
    names: tuple[str, ...],
    only_plan: bool,
    max_cost: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask a model about a dataset's steps; the same command again asks only what is missing.

    \b
    convergebench judge convergebench --judge gemini --question edit_applied \\
      --max-cost 5
    convergebench judge convergebench --judge \\
      openai:base_url=http://localhost:8000/v1,model=M --question \\
      object_count
    convergebench judge convergebench --judge transformers --question \\
      edit_undone --limit 200
    convergebench judge convergebench --judge paint --question additions_there

    Questions: additions_there, anything_else, edit_applied, edit_undone, infidelity, object_count, over_generation,
    self_evaluation. A refusal or a nonsensical answer is stored without a value, with its reason. A fixed sample is
    asked again in each run, and the report raises an alarm if the judge no longer answers as it did.
    """
    import convergebench as cb

    if only_plan:
        _print_plans(_plans(dataset, spec, names, **options), as_json)
        return
    outcomes = []
    for name in names:
        outcome = cb.judge(dataset, spec, name, max_cost=max_cost, quiet=as_json, **options)
        outcomes.append(outcome)
        if not as_json:
            _print_outcome(outcome)
        if outcome.stopped:
            break
    if as_json:
        click.echo(json.dumps([outcome.to_dict() for outcome in outcomes]))
    if any(outcome.abandoned for outcome in outcomes):  # waiting threads would keep the process alive
        click.echo("calls were still in flight; the ledger counts them as spent", err=True)
        sys.stdout.flush()
        os._exit(1)
    if not all(outcome.clean for outcome in outcomes):
        sys.exit(1)


def _plans(
    dataset: Path,
    spec: str,
    names: tuple[str, ...],
    editors: tuple[str, ...],
    programs: tuple[str, ...],
    limit: int | None,
    calibration: int | None,
    again: bool,
) -> list[dict[str, Any]]:
    """What each question would ask."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.metric_modules._judges import asks, backends, drift, questions, run, store

    choice, chosen = backends.choose(spec), asks.chooser(editors, programs)
    sample = drift.SAMPLE if calibration is None else calibration
    asks.require_dataset(Reader(dataset))
    rows = []
    for question in map(questions.load, names):
        answers = store.Answers(dataset, choice.label, question.name)
        plan = run.plan_run(Reader(dataset), choice, question, answers, again, chosen, limit, sample, begin=False)
        of_sample = sum(call.purpose == run.CALIBRATION for call in plan.calls)
        values = {"judge": choice.label, "question": question.name, "calls": len(plan.calls), "calibration": of_sample}
        rows.append(values | {"already": plan.already, "dollars": plan.dollars, "left_out": dict(plan.asks.left_out)})
    return rows


def _print_plans(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        cost = "at an unknown price" if row["dollars"] is None else f"for ${row['dollars']:.2f} at most"
        click.echo(
            f"{row['judge']}, {row['question']}: {row['calls']} calls {cost}, {row['calibration']} of them for the "
            f"fixed sample; {row['already']} were answered before"
        )
        for reason, count in row["left_out"].items():
            click.echo(f"  {count} steps are not asked about: {reason}")


def _print_outcome(outcome: "Outcome") -> None:
    """Print the counts, what has no value and why, and an alarm."""
    title = f"{outcome.judge}, {outcome.question}"
    before = f" after ${outcome.before:.2f} before" if outcome.before else ""
    click.echo(
        f"{title}: {outcome.asked} answers, {outcome.calibration} of them for the fixed sample; {outcome.already} were "
        f"there before; ${outcome.spent:.4f} spent{before}"
    )
    for reason, count in outcome.without_value.items():
        click.echo(f"  {count} answers without a value: {reason}")
    for reason, count in outcome.left_out.items():
        click.echo(f"  {count} steps are not asked about: {reason}")
    for alarm in outcome.alarms:
        click.echo(f"ALARM: {alarm}", err=True)
    for place, reason in list(outcome.left.items())[:10]:
        click.echo(f"not answered: {place}: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
