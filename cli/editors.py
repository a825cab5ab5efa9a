"""`convergebench editors`: lists the editors, and `editors check` tries one of them."""

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
        click.echo(f"{'':10} options: {options or 'none'}; needs {row['needs']}; {row['missing'] or 'ready'}")


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
