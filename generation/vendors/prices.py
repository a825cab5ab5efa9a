"""What a call costs, as data with the date it was read."""

import functools
import os
import tomllib
from pathlib import Path
from typing import Any

from ..records import UserError


@functools.cache
def price_table(override: str | None) -> dict[str, Any]:
    """The shipped prices, with single lines replaced by those of the user's own file."""
    prices = tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))
    if override:
        try:
            ours = tomllib.loads(Path(override).read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise UserError(
                f"CONVERGEBENCH_PRICES is {override!r}, which is no readable TOML file ({error})"
            ) from error
        for vendor, lines in ours.items():
            prices[vendor] = {**prices.get(vendor, {}), **lines} if isinstance(lines, dict) else lines
    return prices


def price_of(vendor: str, model: str) -> Any:
    """A model's price, or its prices by size or quality; None where none is known."""
    return price_table(os.environ.get("CONVERGEBENCH_PRICES")).get(vendor, {}).get(model)
