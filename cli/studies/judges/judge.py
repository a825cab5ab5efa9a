import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..._shared import PATH, json_option

if TYPE_CHECKING:
    from convergebench.metric_modules._judges.journal import Outcome

SECTION = "ask models"
plan_option = click.option("--plan", "only_plan", is_flag=True, help="Print what would be asked, and its cost.")


@click.command("judge", short_help="Ask a model about the steps of a dataset.")
@click.argument("dataset", type=PATH)
@click.option(
    "--judge", "spec", required=True, help="openai, gemini or paint, with options such as openai:model=NAME."
)
@click.option(
    "--question", "names", multiple=True, required=True, help="A name, or your own ./mine.toml; repeatable."
)
@click.option(
    "--editor", "editors", multiple=True, help="Only chains of this editor, named as in tables; repeatable."
)
@click.option("--program", "programs", multiple=True, help="Only chains of this program; repeatable.")
@click.option("--limit", type=click.IntRange(1), help="At most N steps, a random choice that stays the same.")
@click.option("--calibration", type=click.IntRange(0), help="Steps that each run asks again. Default: 120.")
@click.option("--again", is_flag=True, help="Ask about that sample even if nothing else is missing.")
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Most US dollars that the judge may cost on this dataset."
)
@plan_option
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
    convergebench judge convergebench --judge paint --question additions_there

    Questions: additions_there, anything_else, edit_applied, edit_undone, infidelity,
    object_count, over_generation, self_evaluation. A refusal or nonsense is stored without
    a value. A fixed sample is asked again in each run, to see whether the judge drifts.
    """
    import convergebench as cb

    if only_plan:
        _print_plans(dataset, spec, names, as_json, **options)
        return
    outcomes: list[Outcome] = []
    for name in names:
        outcomes.append(cb.judge(dataset, spec, name, max_cost=max_cost, quiet=as_json, **options))
        if not as_json:
            _print_outcome(outcomes[-1])
        if outcomes[-1].stopped:
            break
    if as_json:
        click.echo(json.dumps([vars(outcome) for outcome in outcomes]))
    exit_after_calls(sum(outcome.abandoned for outcome in outcomes), all(outcome.clean for outcome in outcomes))


def exit_after_calls(abandoned: int, is_complete: bool) -> None:
    """Exit with status 1 unless everything was asked."""
    if abandoned:  # waiting threads would keep the process alive
        click.echo("calls were still in flight; the ledger counts them as spent", err=True)
        sys.stdout.flush()
        os._exit(1)
    if not is_complete:
        sys.exit(1)


def _print_plans(dataset: Path, spec: str, names: tuple[str, ...], as_json: bool, **options: Any) -> None:
    from convergebench.dataset_builder.building.card import require_dataset
    from convergebench.metric_modules._judges import backends, questions
    from convergebench.metric_modules._judges.run import CALIBRATION, Run

    judge, rows = backends.choose(spec), []
    require_dataset(dataset)
    for question in map(questions.load, names):
        plan = Run(dataset, judge, question, **options)
        sample = sum(ask.purpose == CALIBRATION for ask in plan.calls)
        row = {"judge": judge.label, "question": question.name, "calls": len(plan.calls), "calibration": sample}
        rows.append(row | {"already": plan.already, "dollars": plan.dollars, "left_out": dict(plan.left_out)})
        if as_json:
            continue
        cost = "at an unknown price" if plan.dollars is None else f"for ${plan.dollars:.2f} at most"
        what = f"{len(plan.calls)} calls {cost}, {sample} of them for the fixed sample"
        click.echo(f"{judge.label}, {question.name}: {what}; {plan.already} were answered before")
        _print_left_out(plan.left_out)
    if as_json:
        click.echo(json.dumps(rows))


def _print_left_out(left_out: Mapping[str, int]) -> None:
    for reason, count in left_out.items():
        click.echo(f"  {count} steps are not asked about: {reason}")


def _print_outcome(outcome: "Outcome") -> None:
    before = f" after ${outcome.before:.2f} before" if outcome.before else ""
    what = f"{outcome.asked} answers, {outcome.calibration} of them for the fixed sample"
    spent = f"{outcome.already} were there before; ${outcome.spent:.4f} spent{before}"
    click.echo(f"{outcome.judge}, {outcome.question}: {what}; {spent}")
    for reason, count in outcome.without_value.items():
        click.echo(f"  {count} answers without a value: {reason}")
    _print_left_out(outcome.left_out)
    for alarm in outcome.alarms:
        click.echo(f"ALARM: {alarm}", err=True)
    for place, reason in list(outcome.left.items())[:10]:
        click.echo(f"not answered: {place}: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
