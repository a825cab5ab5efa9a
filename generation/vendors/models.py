"""The hosted models: their prices, shutdown dates and parameters, from models.toml.

The environment variable CONVERGEBENCH_PRICES may name a file of prices, which override these.
"""

import datetime
import functools
import json
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..files import toml_beside
from ..records import Json, UserError, Values

ANY = "*"
_PRICES = "CONVERGEBENCH_PRICES"
# Parameters that an unlisted model does not inherit from a similar one.
_NOT_INHERITED = ("price", "tokens", "ends", "ends_note", "deprecated", "instead", "no_price")
_WARNING_DAYS = 60  # before a shutdown


@dataclass(frozen=True)
class Model:
    vendor: str
    name: str
    listed: bool  # whether models.toml has lines for it
    facts: Values = field(hash=False)

    @property
    def price(self) -> Any:
        """US dollars per picture, or a mapping of them by size or quality."""
        prices = _user_prices(os.environ.get(_PRICES)).get(self.vendor, {})
        return prices.get(self.name, self.facts.get("price"))

    @property
    def tokens(self) -> Mapping[str, float]:
        """US dollars per million, by kind."""
        prices = _user_prices(os.environ.get(_PRICES)).get(f"{self.vendor}_tokens", {})
        return prices.get(self.name) or self.facts.get("tokens") or {}

    def warning(self, today: datetime.date | None = None) -> str | None:
        since, ends = self.facts.get("deprecated"), self.facts.get("ends")
        if ends is None and not since:
            return None
        when = f"is deprecated since {since}, with no shutdown date announced"
        if ends:
            days = (ends - (today or datetime.date.today())).days
            if days > _WARNING_DAYS:
                return None
            when = f"was shut down on {ends}" if days < 0 else f"is shut down on {ends}, in {days} days"
        note = f" ({self.facts['ends_note']})" if self.facts.get("ends_note") else ""
        instead = f"; {self.facts['instead']} takes its place" if self.facts.get("instead") else ""
        return f"{self.name} {when}{note}{instead}"

    def no_price(self) -> str:
        """Why the price is unknown, and which line sets one."""
        missing = "not found" if self.listed else "not in generation/vendors/models.toml"
        why = self.facts.get("no_price") or missing
        path = os.environ.get(_PRICES)
        name = json.dumps(self.name)
        if self.vendor in _user_prices(path):
            line = f"write the line {name} = 0.05, with your own price, under [{self.vendor}] in {path}"
        else:
            into = f"at the top of {path}" if path else f"into a file and name it in {_PRICES}"
            line = f"write the line {self.vendor}.{name} = 0.05, with your own price, {into}"
        return f"the price of {self.name} is not known ({why}); {line}"


def find(vendor: str, name: str) -> Model:
    """A model; an unlisted one has the parameters of the longest listed name that it begins with."""
    table = shipped().get(vendor, {})
    if name in table:
        return Model(vendor, name, True, facts(vendor, name))
    prefixes = [other for other in table if other != ANY and name.startswith(other)]
    nearest = facts(vendor, max(prefixes, key=len, default=ANY)) if table else {}
    return Model(vendor, name, False, {key: value for key, value in nearest.items() if key not in _NOT_INHERITED})


def all_models() -> list[Model]:
    tables = {vendor: names for vendor, names in shipped().items() if isinstance(names, dict)}
    return [find(vendor, name) for vendor, names in tables.items() for name in names if name != ANY]


def vendor_of(name: str) -> str | None:
    """The vendor of a listed model, by its name without an owner."""
    names = {model.name.split("/")[:2][-1].casefold(): model.vendor for model in all_models()}
    return names.get(name.casefold())


@functools.cache
def facts(vendor: str, name: str) -> Json:
    lines = shipped()[vendor][name]
    return {**(facts(vendor, lines["like"]) if "like" in lines else {}), **lines}


@functools.cache
def shipped() -> Json:
    return toml_beside(__file__, "models.toml")


@functools.cache
def _user_prices(path: str | None) -> Json:
    if not path:
        return {}
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{_PRICES} must name a TOML file, got {path!r} ({error})") from error
    editors = sorted(file.stem for file in (Path(__file__).parents[1] / "editors").glob("[a-z]*.py"))
    # Texts and dates, such as the day on which prices were read, are not prices.
    tables = {vendor: lines for vendor, lines in tables.items() if not isinstance(lines, str | datetime.date)}
    for vendor, lines in tables.items():
        if vendor.removesuffix("_tokens") not in editors or not isinstance(lines, dict):
            allowed = f"[{'], ['.join(editors)}]"
            raise UserError(f"{path} must have tables named after editors, {allowed}, got {vendor!r}")
        for model, price in lines.items():
            for dollars in price.values() if isinstance(price, dict) else [price]:
                is_number = isinstance(dollars, int | float) and not isinstance(dollars, bool)
                if not is_number or not 0 <= dollars < math.inf:
                    raise UserError(f"{path}: {vendor} {model} must have a price from 0, got {dollars!r}")
    return tables


def row(model: Model) -> dict[str, object]:
    ends = model.facts.get("ends")
    source = f"{model.facts['source']}, read {shipped()['read']}"
    dates = {"ends": ends.isoformat() if ends else None, "source": source}
    return {"vendor": model.vendor, "model": model.name, "price": model.price, **dates}
