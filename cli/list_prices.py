import json

import click

from ._shared import json_option


@click.command("prices", short_help="Prices and end dates of the hosted models.")
@click.option("--refresh", is_flag=True, help="Fetch LiteLLM's public table first, and print what changed.")
@json_option
def command(refresh: bool, as_json: bool) -> None:
    """List the hosted models with their price (US dollars a picture), end date and source.

    docs/editors.md has the shipped list. Prices that --refresh fetches override it, and those in the file named by
    CONVERGEBENCH_PRICES override both.

    \b
    convergebench list prices
    convergebench list prices --refresh
    """
    from convergebench.generation.vendors import models

    source, changes = models.refresh() if refresh else ("", [])
    rows = [(model, models.row(model)) for model in models.listed()]
    if as_json:
        click.echo(
            json.dumps({"refreshed": source or None, "changes": changes, "models": [row for _, row in rows]})
        )
        return
    if refresh:
        click.echo(f"{source}: {len(changes)} of the listed models changed; saved to {models.refreshed_file()}")
        click.echo("".join(f"{line}\n" for line in changes), nl=False)
    else:
        for model, row in rows:
            click.echo(f"{row['vendor']:9} {row['model']:34} {models.described(model)}")
            click.echo(f"{'':44} {row['source']}")
