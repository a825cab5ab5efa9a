import json
import secrets
from pathlib import Path

import click

from ..._shared import PATH, json_option


@click.command("new", short_help="A challenge for one editor and suite.")
@click.argument("editor")
@click.option("--suite", required=True, help="The suite that the submission is of.")
@click.option("--out", type=PATH, default="challenges", show_default=True, help="A folder.")
@json_option
def command(editor: str, suite: str, out: Path, as_json: bool) -> None:
    """Write a challenge for an editor, named as its chains name it: its file is the salt that chooses the audits.

    Whoever runs the editor is given the file for `convergebench generate --salt-file`; `convergebench verify
    --salt-file` then checks the submission against it. Keep it from the editor's authors until the results are out.

    \b
    convergebench challenge new mine:version=1 --suite v1
    """
    from convergebench.generation import suites
    from convergebench.generation.files import write_whole

    name = secrets.token_hex(4)
    values = {"challenge": name, "editor": editor, "suite": suites.load(suite).name}
    values["salt"] = secrets.token_hex(32)
    file = out / f"{name}.json"
    out.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps(values, sort_keys=True).encode())
    click.echo(json.dumps({"name": name, "file": str(file)}) if as_json else str(file))
