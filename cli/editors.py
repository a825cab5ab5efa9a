"""`convergebench editors`: lists the editors; `check` tries one of them, `prices` tells what the hosted ones cost."""

import json
import sys

import click

from ._shared import json_option


@click.group("editors", invoke_without_command=True)
@json_option
@click.pass_context
def editors(context: click.Context, as_json: bool) -> None:
    """List the editors with their options, what each needs, and whether it is ready here.

    \b
    convergebench editors
    convergebench editors check gemini:model=gemini-3-pro-image
    convergebench editors prices --refresh
    """
    if context.invoked_subcommand:
        return
    from convergebench.generation import editors as all_editors

    rows = [all_editors.describe(name) for name in all_editors.names()]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        options = ",".join(f"{key}={value}" for key, value in row["options"].items())
        click.echo(f"{row['name']:10} {row['about']}")
        also = f", also {', '.join(row['also'])}" if row["also"] else ""
        click.echo(f"{'':10} options: {options or 'none'}{also}; needs {row['needs']}; {row['missing'] or 'ready'}")


@editors.command("check")
@click.argument("spec", metavar="NAME[:option=value,...]")
@json_option
def check(spec: str, as_json: bool) -> None:
    """Make one cheap call and say what came back: its size, its true type, its price.

    \b
    convergebench editors check bfl:model=flux-kontext-max
    """
    from convergebench.generation import check as checking
    from convergebench.generation.calls import Unusable
    from convergebench.generation.records import UserError

    try:
        answer = checking.check(spec)
    except Unusable as error:
        raise UserError(str(error)) from error
    if as_json:
        click.echo(json.dumps(answer))
    else:
        for name, value in answer.items():
            if value not in (None, {}):
                click.echo(f"{name:9} {'$' if name in ('price', 'cost') else ''}{value}")
    sys.exit(0 if answer["status"] == "ok" else 1)


@editors.command("prices")
@click.option("--refresh", is_flag=True, help="Fetch LiteLLM's public table first and say what it changes.")
@json_option
def prices(refresh: bool, as_json: bool) -> None:
    """List what the hosted models cost, in US dollars a picture, when they end, and which source says so.

    The shipped list is docs/editors.md; --refresh lays LiteLLM's newer one over it, and the file that
    CONVERGEBENCH_PRICES names wins over both.

    \b
    convergebench editors prices
    convergebench editors prices --refresh
    """
    from convergebench.generation.vendors import models
    from convergebench.generation.vendors import prices as price_table

    source, changes = price_table.refresh() if refresh else ("", [])
    rows = [(model, price_table.row(model)) for model in models.listed()]
    further = price_table.beyond_the_list()
    if as_json:
        about = {"refreshed": source or None, "changes": changes, "further": further}
        click.echo(json.dumps({**about, "models": [row for _, row in rows]}))
        return
    if refresh:
        click.echo(f"{source}: {len(changes)} of the listed models changed; kept in {models.refreshed_file()}")
        click.echo("".join(f"{line}\n" for line in changes), nl=False)
    else:
        for model, row in rows:
            click.echo(f"{row['vendor']:9} {row['model']:34} {price_table.described(model)}")
            click.echo(f"{'':44} {row['source']}")
    if further:
        click.echo(f"{len(further)} more have a price: {', '.join(further)}")
