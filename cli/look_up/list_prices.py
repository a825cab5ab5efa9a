import click
from convergebench.generation.records import Values

from .._shared import json_option, print_rows


@click.command("prices", short_help="Prices and end dates of the hosted models.")
@json_option
def command(as_json: bool) -> None:
    """List the hosted models with their price (US dollars a picture), end date and source.

    The list is that of docs/editors.md, with the prices
    of your own file, which CONVERGEBENCH_PRICES names.

    \b
    convergebench list prices
    """
    from convergebench.generation.vendors import models

    print_rows([models.row(model) for model in models.all_models()], as_json, _text_of)


def _text_of(row: Values) -> str:
    price, ends = row["price"], f", ends {row['ends']}" if row["ends"] else ""
    by_kind = price.items() if isinstance(price, dict) else [("", price)] if price is not None else []
    prices = ", ".join(f"{kind} {amount:g}".strip() for kind, amount in by_kind) or "no price"
    return f"{row['vendor']:9} {row['model']:34} {prices}{ends}\n{'':44} {row['source']}"
