"""`convergebench plan`: what a run would do and cost, before anything runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ._shared import json_option


def beginning_with(word: str, room: str) -> list[str]:
    """The names of suites or editors that a shell may complete a word to."""
    import importlib

    names = importlib.import_module(f"convergebench.generation.{room}").names()
    return [name for name in names if name.startswith(word)]


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe a plan, the same for `plan` and `generate`."""
    for option in reversed(
        (
            click.option(
                "--suite",
                default="demo",
                show_default=True,
                help="Which suite; `convergebench suites` lists them. Or ./FILE.toml of your own.",
                shell_complete=lambda context, option, word: beginning_with(word, "suites"),
            ),
            click.option(
                "--editor",
                "specs",
                multiple=True,
                help="NAME or NAME:option=value,..., or ./FILE.py:FUNCTION of your own; repeatable. "
                "Default: the suite's editors.",
                shell_complete=lambda context, option, word: beginning_with(word, "editors"),
            ),
            click.option("--pictures", type=click.Path(), help="A folder of your own, instead of the suite's."),
            click.option(
                "--pictures-kind",
                "kind",
                help="What they show: face, object, scene, texture or text. Default: guessed.",
            ),
            click.option("--rounds", type=int, help="Rounds per chain instead of the suite's."),
            click.option("--runs", type=int, help="Runs per case instead of the suite's."),
            click.option("--program", "programs", multiple=True, help="Only this program; repeatable."),
            click.option("--category", "categories", multiple=True, help="Only programs of this category; repeatable."),
            click.option("--kind", "kinds", multiple=True, help="Only pictures of this kind; repeatable."),
            click.option("--source", "sources", multiple=True, help="Only this picture; repeatable."),
            click.option(
                "--salt-file",
                metavar="FILE",
                help="Random bytes that choose the recall audits, secret until the results are out. "
                "Default: $CONVERGEBENCH_SALT_FILE.",
            ),
            click.option("--limit", type=int, help="Only so many cases, balanced, the same for every editor."),
            click.option(
                "--audit/--no-audit",
                default=True,
                help="Disturb a fifth of the chains, to find editors that remember. Default: audit.",
            ),
        )
    ):
        command = option(command)
    return command


@click.command("plan")
@plan_options
@click.option("--max-cost", type=click.FloatRange(0), help="Say how many cases fit so many US dollars.")
@click.option("--decide", metavar="A,B", help="Say what a verdict between these two editors will cost, stopping early.")
@click.option(
    "--pilot", type=click.Path(path_type=Path), help="With --decide: a scored dataset of both, to go on from."
)
@click.option("--spread", type=click.FloatRange(0.01), help="With --decide: by how many rounds sources differ.")
@json_option
def plan(
    suite: str,
    specs: tuple[str, ...],
    rounds: int | None,
    runs: int | None,
    pictures: str | None,
    kind: str | None,
    audit: bool,
    max_cost: float | None,
    salt_file: str | None,
    decide: str | None,
    pilot: Path | None,
    spread: float | None,
    as_json: bool,
    **selected: Any,
) -> None:
    """Count the chains, calls, images, bytes and dollars of a run, before anything runs.

    \b
    convergebench plan --suite demo --editor paint --editor jpeg:quality=40 --rounds 5
    convergebench plan --suite v1 --editor openai --category geometric --limit 24
    convergebench plan --suite v1-mini --editor openai --max-cost 25
    convergebench plan --suite v1 --decide gemini,bfl --pilot convergebench
    convergebench plan --suite ./mine.toml --pictures ./photographs --editor paint
    """
    from convergebench.generation import audits, suites
    from convergebench.generation import plan as planning
    from convergebench.generation.records import canonical
    from convergebench.generation.selection import Selection

    loaded = suites.load(suite, pictures, kind)
    salt = audits.read_salt(salt_file)
    if decide:
        from . import _decide

        pair = planning.make_plan(loaded, _decide.split_pair(decide), rounds, runs, Selection(**selected), audit, salt)
        found = _decide.decide(pair, pilot, spread)
        click.echo(canonical(found) if as_json else _decide.as_text(found))
        return
    run_plan = planning.make_plan(loaded, specs, rounds, runs, Selection(**selected), audit, salt)
    rows = planning.summary(run_plan)
    fits = None if max_cost is None else planning.what_fits(run_plan, max_cost)
    if as_json:
        about: dict[str, Any] = {"suite": run_plan.suite.name, "version": run_plan.suite.version, "editors": rows}
        about["warnings"] = planning.warnings(run_plan)
        if fits:
            about["fits"] = dict(zip(("cases", "of", "dollars"), fits, strict=True))
        click.echo(canonical({**about, "chains": [chain.id for chain in run_plan.chains]}))
        return
    click.echo(f"{run_plan.suite.name} {run_plan.suite.version}: {run_plan.suite.title}\n")
    click.echo(f"{'editor':32} {'chains':>7} {'calls':>8} {'images':>8} {'GB':>8} {'dollars':>11}")
    for row in rows:
        dollars = "unknown" if row["dollars"] is None else f"{row['dollars']:,.2f}"
        size = f"{row['bytes'] / 1e9:.2f}"
        click.echo(
            f"{row['editor']!s:32} {row['chains']:>7} {row['calls']:>8} {row['images']:>8} {size:>8} {dollars:>11}"
        )
    if fits and max_cost is not None:
        some = f"--limit {fits[0]} fits" if fits[0] else "not one case fits"
        click.echo(f"\n{some} ${max_cost:g}: {fits[0]} of {fits[1]} cases cost ${fits[2]:,.2f}")
    for warning in planning.warnings(run_plan):
        click.echo(f"warning: {warning}", err=True)
