"""`convergebench judge`: asks a vision or language model about the steps of a dataset, and keeps its answers there."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import json_option

if TYPE_CHECKING:
    from convergebench.metric_modules._judges.run import Outcome


@click.command("judge")
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
    help="A question's name, or a file of your own, ./mine.toml; may be given several times.",
)
@click.option("--editor", "editors", multiple=True, help="Only chains of this editor, as tables name it.")
@click.option("--program", "programs", multiple=True, help="Only chains of this program.")
@click.option("--limit", type=click.IntRange(1), help="Only so many steps, chosen at random but always the same.")
@click.option(
    "--calibration",
    type=click.IntRange(0),
    help="How many steps the fixed sample has that is asked again in each run, on top of the others. Default: 120.",
)
@click.option(
    "--again", is_flag=True, help="Ask the fixed sample again though nothing is missing: does the judge drift?"
)
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Stop before this judge has cost more US dollars on this dataset."
)
@click.option(
    "--plan", "only_plan", is_flag=True, help="Say what would be asked and what that costs at most; ask nothing."
)
@json_option
def judge(
    dataset: Path,
    spec: str,
    names: tuple[str, ...],
    editors: tuple[str, ...],
    programs: tuple[str, ...],
    limit: int | None,
    calibration: int | None,
    again: bool,
    max_cost: float | None,
    only_plan: bool,
    as_json: bool,
) -> None:
    """Ask a model about a dataset's steps; the same command again asks only what is missing.

    \b
    convergebench judge convergebench --judge gemini --question edit_applied --max-cost 5
    convergebench judge convergebench --judge openai:base_url=http://localhost:8000/v1,model=M --question object_count
    convergebench judge convergebench --judge transformers --question edit_undone --limit 200
    convergebench judge convergebench --judge paint --question additions_there

    Questions: additions_there, anything_else, edit_applied, edit_undone, infidelity, object_count, over_generation,
    self_evaluation. An answer that is a refusal or nonsense has no value and a reason. A fixed sample is asked again in
    each run, and the report raises an alarm where the judge does not answer as it did at first.
    """
    from convergebench import metric_modules

    if only_plan:
        say_plans(dataset, spec, names, editors, programs, limit, calibration, again, as_json)
        return
    outcomes = []
    for name in names:
        outcome = metric_modules.judge(
            dataset,
            spec,
            name,
            max_cost=max_cost,
            limit=limit,
            editors=editors,
            programs=programs,
            calibration=calibration,
            again=again,
            quiet=as_json,
        )
        outcomes.append(outcome)
        if not as_json:
            say_outcome(outcome)
        if outcome.stopped:
            break
    if as_json:
        click.echo(json.dumps([outcome.to_dict() for outcome in outcomes]))
    if any(outcome.abandoned for outcome in outcomes):  # their threads would keep the process until the calls end
        click.echo("calls were still in flight; the ledger counts them as spent", err=True)
        sys.stdout.flush()
        os._exit(1)
    if not all(outcome.clean for outcome in outcomes):
        sys.exit(1)


def say_plans(
    dataset: Path,
    spec: str,
    names: tuple[str, ...],
    editors: tuple[str, ...],
    programs: tuple[str, ...],
    limit: int | None,
    calibration: int | None,
    again: bool,
    as_json: bool,
) -> None:
    """Print what each question would ask."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.metric_modules._judges import asks, backends, drift, questions, run, store

    choice, chosen = backends.choose(spec), asks.chooser(editors, programs)
    sample = drift.SAMPLE if calibration is None else calibration
    asks.require_dataset(Reader(dataset))
    rows: list[dict[str, Any]] = []
    for question in map(questions.load, names):
        answers = store.Answers(dataset, choice.label, question.name)
        plan = run.plan_run(Reader(dataset), choice, question, answers, again, chosen, limit, sample, begin=False)
        of_sample = sum(call.purpose == run.CALIBRATION for call in plan.calls)
        about = {"judge": choice.label, "question": question.name, "calls": len(plan.calls), "calibration": of_sample}
        rows.append(about | {"already": plan.already, "dollars": plan.dollars, "left_out": dict(plan.asks.left_out)})
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        cost = "at a price that is not known" if row["dollars"] is None else f"for ${row['dollars']:.2f} at most"
        click.echo(
            f"{row['judge']}, {row['question']}: {row['calls']} calls {cost}, {row['calibration']} of them for the "
            f"fixed sample; {row['already']} were answered before"
        )
        for reason, count in row["left_out"].items():
            click.echo(f"  {count} steps are not asked: {reason}")


def say_outcome(outcome: "Outcome") -> None:
    """Print the counts, what has no value and why, and an alarm."""
    about = f"{outcome.judge}, {outcome.question}"
    before = f" after ${outcome.before:.2f} before" if outcome.before else ""
    click.echo(
        f"{about}: {outcome.asked} answers, {outcome.calibration} of them for the fixed sample; {outcome.already} were "
        f"there before; ${outcome.spent:.4f} spent{before}"
    )
    for reason, count in outcome.without_value.items():
        click.echo(f"  {count} answers without a value: {reason}")
    for reason, count in outcome.left_out.items():
        click.echo(f"  {count} steps are not asked: {reason}")
    for alarm in outcome.alarms:
        click.echo(f"ALARM: {alarm}", err=True)
    for place, reason in list(outcome.left.items())[:10]:
        click.echo(f"not answered: {place}: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
