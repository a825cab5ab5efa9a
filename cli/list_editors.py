import json
import sys

import click

from ._shared import json_option


@click.command("editors", short_help="Editors, their options and needs.")
@click.option(
    "--check", "spec", metavar="NAME[:option=value,...]", help="Make one cheap call of this editor instead."
)
@json_option
def command(spec: str | None, as_json: bool) -> None:
    """List the editors with their options and needs, or try one of them with a single call.

    \b
    convergebench list editors
    convergebench list editors --check gemini:model=gemini-3-pro-image
    """
    if spec:
        sys.exit(0 if _check(spec, as_json) else 1)
    from convergebench.generation import editors

    rows = [editors.describe(name) for name in editors.names()]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        options = ",".join(f"{key}={value}" for key, value in row["options"].items())
        click.echo(f"{row['name']:10} {row['about']}")
        also = f", also {', '.join(row['also'])}" if row["also"] else ""
        click.echo(
            f"{'':10} options: {options or 'none'}{also}; needs {row['needs']}; {row['missing'] or 'ready'}"
        )


def _check(spec: str, as_json: bool) -> bool:
    from convergebench.generation.calls import Unusable
    from convergebench.generation.loop import check
    from convergebench.generation.records import UserError

    try:
        answer = check(spec)
    except Unusable as error:
        raise UserError(str(error)) from error
    if as_json:
        click.echo(json.dumps(answer))
    else:
        for name, value in answer.items():
            if value not in (None, {}):
                click.echo(f"{name:9} {'$' if name in ('price', 'cost') else ''}{value}")
    return bool(answer["status"] == "ok")
