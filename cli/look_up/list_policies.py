import click

from .._shared import json_option, options_text, print_rows


@click.command("policies", short_help="What a product can do around any editor.")
@json_option
def command(as_json: bool) -> None:
    """List the policies with their options, for `--policy NAME[:option=value,...]`.

    \b
    convergebench list policies
    convergebench plan --suite demo --editor paint --policy none \\
      --policy paste-back --policy align+paste-back
    """
    from convergebench.generation import policies

    rows = [policies.describe(name) for name in policies.names()]
    print_rows(
        rows, as_json, lambda row: f"{row['name']:12} {row['about']}\n{'':12} options: {options_text(row)}"
    )
