"""What several verbs share: the options --json and --column."""

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a machine.")


def parse_columns(pairs: tuple[str, ...]) -> dict[str, str]:
    """The pairs OURS=THEIRS of --column as a mapping."""
    from convergebench.generation.records import UserError

    for pair in pairs:
        if "=" not in pair:
            raise UserError(f"--column is {pair!r}; it is OURS=THEIRS, such as path=file")
    return dict(pair.split("=", 1) for pair in pairs)
