import json
from typing import Any

import click
from convergebench.generation.records import Values

from ._shared import json_option, plan_options


@click.command("plan", short_help="Count the chains, calls and dollars of a run.")
@plan_options
@click.option("--max-cost", type=click.FloatRange(0), help="Say how many cases fit this many US dollars.")
@json_option
def command(suite: str, specs: tuple[str, ...], max_cost: float | None, as_json: bool, **options: Any) -> None:
    """Count the chains, calls, images, bytes and dollars of a run, before anything runs.

    \b
    convergebench plan --suite demo --editor paint --editor jpeg:quality=40 \\
      --rounds 5
    convergebench plan --suite v1-mini --editor openai --max-cost 25
    convergebench plan --suite ./mine.toml --pictures ./photographs \\
      --editor paint
    """
    import convergebench as cb
    from convergebench.generation import plan as planning

    plan = cb.plan(specs, suite, **options)
    rows, warnings = planning.summary(plan), planning.warnings(plan)
    fits = None if max_cost is None else planning.what_fits(plan, max_cost)
    if as_json:
        values: dict[str, object] = {"suite": plan.suite.name, "version": plan.suite.version, "editors": rows}
        values |= {"warnings": warnings, "chains": [chain.id for chain in plan.chains]}
        if fits:
            values["fits"] = dict(zip(("cases", "of", "dollars"), fits, strict=True))
        click.echo(json.dumps(values))
        return
    click.echo(f"{plan.suite.name} {plan.suite.version}: {plan.suite.title}\n")
    click.echo(f"{'editor':32} {'chains':>7} {'calls':>8} {'images':>8} {'GB':>8} {'dollars':>11}")
    click.echo("\n".join(map(_line_of, rows)))
    if fits:
        cases, total, cost = fits
        advice = f"--limit {cases} fits" if cases else "no case fits"
        click.echo(f"\n{advice} ${max_cost:g}: {cases} of {total} cases cost ${cost:,.2f}")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


def _line_of(row: Values) -> str:
    dollars = "unknown" if row["dollars"] is None else f"{row['dollars']:,.2f}"
    counts = f"{row['chains']:>7} {row['calls']:>8} {row['images']:>8} {row['bytes'] / 1e9:>8.2f}"
    return f"{row['editor']!s:32} {counts} {dollars:>11}"
