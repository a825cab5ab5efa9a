"""`convergebench editors`: what there is, what each needs, and whether it is ready here."""

import json

import click


@click.command("editors")
@click.option("--json", "as_json", is_flag=True, help="For a machine.")
def editors(as_json: bool) -> None:
    """List the editors with their options, what each needs, and whether it is ready here.

    \b
    convergebench editors
    """
    from convergebench.generation import editors as there

    rows = [there.describe(name) for name in there.names()]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        options = ",".join(f"{key}={value}" for key, value in row["options"].items())
        click.echo(f"{row['name']:10} {row['about']}")
        click.echo(f"{'':10} options: {options or 'none'}; needs {row['needs']}; {row['missing'] or 'ready'}")
