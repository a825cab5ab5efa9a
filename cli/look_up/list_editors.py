import json
import sys

import click
from convergebench.generation.records import Values

from .._shared import json_option, options_text, print_rows


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

    print_rows([editors.describe(name) for name in editors.names()], as_json, _text_of)


def _text_of(row: Values) -> str:
    from convergebench.bench import as_installed

    also = f", also {', '.join(row['also'])}" if row["also"] else ""
    needs = as_installed(f"needs {row['needs']}; {row['missing'] or 'ready'}")
    return f"{row['name']:10} {row['about']}\n{'':10} options: {options_text(row)}{also}; {needs}"


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
