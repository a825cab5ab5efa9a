"""The hosted models: their prices, shutdown dates and parameters, from models.toml and newer data.

`refresh` reads newer prices from LiteLLM's public table, a JSON file inside its wheel. They override the shipped list,
and CONVERGEBENCH_PRICES overrides both.
"""

import datetime
import functools
import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import Version

from .. import packages
from ..files import refuse_strangers_file, write_whole
from ..records import UserError, canonical

ANY = "*"
_PRICES = "CONVERGEBENCH_PRICES"  # the variable that names the user's own file
# What a model does not take over from a similar name.
_OWN = ("price", "tokens", "ends", "ends_note", "deprecated", "instead", "no_price")
_PACKAGE = "litellm"
TABLE = "litellm/model_prices_and_context_window_backup.json"
_SIZES = ("1024-x-1024", "1024-x-1536", "1536-x-1024")  # the pictures that editors are asked for
_MODES = ("image_generation", "image_edit")
_TOKENS = {
    "text": "input_cost_per_token",
    "image": "input_cost_per_image_token",
    "output": "output_cost_per_image_token",
}
_UNCHANGED = "the prices stay as they are"
_Row = Mapping[str, Any]
_Table = Mapping[str, _Row]
_SOON = 60  # days before a shutdown from which on there is a warning


@dataclass(frozen=True)
class Model:
    vendor: str
    name: str
    listed: bool  # whether models.toml has lines for it
    facts: Mapping[str, Any] = field(hash=False)

    @property
    def price(self) -> Any:
        """US dollars per picture, or a mapping of them by size or quality."""
        users = own_prices(os.environ.get(_PRICES)).get(self.vendor, {})
        if self.name in users:
            return users[self.name]
        shipped, newer = self.facts.get("price"), self.refreshed.get("price")
        if isinstance(shipped, dict):  # a single number does not say which size or quality it is for
            return {**shipped, **newer} if isinstance(newer, dict) else shipped
        return shipped if newer is None else newer

    @property
    def tokens(self) -> Mapping[str, float]:
        users = own_prices(os.environ.get(_PRICES)).get(f"{self.vendor}_tokens", {})
        return users.get(self.name) or self.refreshed.get("tokens") or self.facts.get("tokens") or {}

    @property
    def refreshed(self) -> Mapping[str, Any]:
        row: Mapping[str, Any] = (
            refreshed(refreshed_file()).get("models", {}).get(self.vendor, {}).get(self.name, {})
        )
        return row

    @property
    def ends(self) -> datetime.date | None:
        newer = self.refreshed.get("ends")
        days = [self.facts.get("ends"), datetime.date.fromisoformat(newer) if newer else None]
        return min((day for day in days if day), default=None)

    def warning(self, today: datetime.date | None = None) -> str | None:
        since = None if self.ends else self.facts.get("deprecated")
        days = (self.ends - (today or datetime.date.today())).days if self.ends else _SOON + 1
        if days > _SOON and not since:
            return None
        when = f"was shut down on {self.ends}" if days < 0 else f"is shut down on {self.ends}, in {days} days"
        when = f"is deprecated since {since}, with no shutdown date announced" if since else when
        note, newer = self.facts.get("ends_note"), self.refreshed.get("ends")
        if not note and newer and self.facts.get("ends") and newer != str(self.facts["ends"]):
            source = refreshed(refreshed_file())["source"]
            note = f"the list of this package says {self.facts['ends']}, {source} says {newer}"
        instead = f"; {self.facts['instead']} takes its place" if self.facts.get("instead") else ""
        return f"{self.name} {when}" + (f" ({note})" if note else "") + instead

    def no_price(self) -> str:
        """A message that says why no price is known, and which line to write to set one."""
        why = self.facts.get("no_price") or (
            "not found" if self.listed else "not in generation/vendors/models.toml"
        )
        path, name = os.environ.get(_PRICES), json.dumps(self.name)
        if self.vendor in own_prices(path):
            line = f"write the line {name} = 0.05, with your own price, under [{self.vendor}] in {path}"
        else:
            into = f"at the top of {path}" if path else f"into a file and name it in {_PRICES}"
            line = f"write the line {self.vendor}.{name} = 0.05, with your own price, {into}"
        end = "`convergebench list prices --refresh` may know it too"
        return f"the price of {self.name} is not known ({why}); {line}; {end}"


def find(vendor: str, name: str) -> Model:
    """An unlisted model has the parameters of the longest listed name that begins its own."""
    table = shipped().get(vendor, {})
    if name in table:
        return Model(vendor, name, True, facts(vendor, name))
    begins = [other for other in table if other != ANY and name.startswith(other)]
    nearest = facts(vendor, max(begins, key=len, default=ANY)) if table else {}
    return Model(vendor, name, False, {key: value for key, value in nearest.items() if key not in _OWN})


def listed() -> list[Model]:
    tables = {vendor: names for vendor, names in shipped().items() if isinstance(names, dict)}
    return [find(vendor, name) for vendor, names in tables.items() for name in names if name != ANY]


@functools.cache
def facts(vendor: str, name: str) -> dict[str, Any]:
    lines = shipped()[vendor][name]
    return {**(facts(vendor, lines["like"]) if "like" in lines else {}), **lines}


@functools.cache
def shipped() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))


def refreshed_file() -> Path:
    return packages.cache_folder() / "prices.json"


@functools.cache
def refreshed(path: Path) -> dict[str, Any]:
    try:
        tables = json.loads(path.read_bytes())
        return tables if tables["read"] >= str(shipped()["read"]) else {}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} cannot be read ({error}); delete it, or refresh the prices again") from error


@functools.cache
def own_prices(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{_PRICES} must name a TOML file, got {path!r} ({error})") from error
    editors = sorted(file.stem for file in (Path(__file__).parents[1] / "editors").glob("[a-z]*.py"))
    # A text or a date, such as the one on which the prices were read, is not a price.
    tables = {vendor: lines for vendor, lines in tables.items() if not isinstance(lines, str | datetime.date)}
    for vendor, lines in tables.items():
        if vendor.removesuffix("_tokens") not in editors or not isinstance(lines, dict):
            raise UserError(
                f"{path} must have tables named after editors, [{'], ['.join(editors)}], got {vendor!r}"
            )
        for model, price in lines.items():
            for dollars in price.values() if isinstance(price, dict) else [price]:
                if (
                    isinstance(dollars, bool)
                    or not isinstance(dollars, int | float)
                    or not 0 <= dollars < math.inf
                ):
                    raise UserError(f"{path}: {vendor} {model} must have a price from 0, got {dollars!r}")
    return tables


def refresh() -> tuple[str, list[str]]:
    """Store the newest table; its name, and a line for each model that changed."""
    source, table = _fetch()
    ours = shipped()["table"]
    if Version(source.split()[-1]) < Version(ours):
        raise UserError(f"{_UNCHANGED}: {source} is older than {ours}, from which the shipped list was made")
    before = {model: described(model) for model in listed()}
    tables = {"source": source, "read": datetime.date.today().isoformat(), "models": _prices_in(table)}
    path = refreshed_file()
    refuse_strangers_file(path, _is_ours)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, canonical(tables).encode())
    refreshed.cache_clear()
    after = {model: described(model) for model in before}
    changed = [model for model in before if before[model] != after[model]]
    return source, [f"{model.vendor} {model.name}: {before[model]} -> {after[model]}" for model in changed]


def _is_ours(data: bytes) -> bool:
    try:
        tables = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(tables, dict) and {"source", "read", "models"} <= tables.keys()


def _fetch() -> tuple[str, _Table]:
    try:
        version, wheel = packages.from_python_index(_PACKAGE, ".whl")
        data = packages.unpack(wheel, [TABLE], _PACKAGE).get(TABLE)
    except packages.Unavailable as reason:
        raise UserError(f"{_UNCHANGED}: {reason}") from reason
    source = f"{_PACKAGE} {version}"
    try:
        table = json.loads(data or b"")
    except ValueError:
        table = None
    if not isinstance(table, dict):
        raise UserError(f"{_UNCHANGED}: {TABLE} of {source} is not a table")
    return source, {name: row for name, row in table.items() if isinstance(row, dict)}


def _prices_in(table: _Table) -> dict[str, dict[str, _Row]]:
    tables: dict[str, dict[str, _Row]] = {}
    for vendor, name in _names_in(table):
        facts = find(vendor, name).facts
        row = table.get(facts["litellm"].format(name=name), {})
        price, tokens, ends = _price_of(row, table, facts, name), _tokens_of(row), _end_of(row)
        values = {"price": price, "tokens": tokens, "ends": ends, "source": row.get("source")}
        if price is not None or tokens or ends:
            tables.setdefault(vendor, {})[name] = {
                key: value for key, value in values.items() if value is not None
            }
    return tables


def _names_in(table: _Table) -> Iterator[tuple[str, str]]:
    tracked = [model for model in listed() if "litellm" in model.facts]
    yield from ((model.vendor, model.name) for model in tracked)
    keys = {model.facts["litellm"].format(name=model.name) for model in tracked}
    for vendor in dict.fromkeys(model.vendor for model in tracked):
        prefix, named, _ = str(facts(vendor, ANY).get("litellm", "")).partition("{name}")
        for key, row in table.items():
            theirs = row.get("litellm_provider") == (prefix.rstrip("/") or vendor) and row.get("mode") in _MODES
            name = key.removeprefix(prefix)
            if named and theirs and key.startswith(prefix) and key not in keys and "-x-" not in name:
                yield vendor, name


def _price_of(row: _Row, table: _Table, facts: _Row, name: str) -> Any:
    if pattern := facts.get("litellm_by_quality"):
        by_quality = {}
        for quality in facts["qualities"]:
            rows = [table.get(pattern.format(name=name, kind=quality, size=size), {}) for size in _SIZES]
            if prices := [price for sized in rows if (price := _flat_price(sized)) is not None]:
                by_quality[quality] = float(f"{max(prices):.3g}")
        return by_quality or None
    named = {size: _dollars(row.get(f"output_cost_per_image_{size}")) for size in facts.get("resolutions", ())}
    if any(named.values()):
        return {size: price for size, price in named.items() if price is not None}
    flat, rate = _flat_price(row), _dollars(row.get("output_cost_per_image_token"))
    if rate and (counts := facts.get("picture_tokens")):
        by_size = {size: float(f"{count * rate:.3g}") for size, count in counts.items()}
        smallest = next(iter(counts))
        return {**by_size, smallest: max(by_size[smallest], flat or 0.0)}
    return flat


def _flat_price(row: _Row) -> float | None:
    price = _dollars(row.get("output_cost_per_image"))
    return _dollars(row.get("input_cost_per_image")) if price is None else price


def _tokens_of(row: _Row) -> dict[str, float] | None:
    rates = {kind: _dollars(row.get(field)) for kind, field in _TOKENS.items()}
    return {kind: round(rate * 1e6, 6) for kind, rate in rates.items() if rate} if all(rates.values()) else None


def _end_of(row: _Row) -> str | None:
    try:
        return datetime.date.fromisoformat(str(row.get("deprecation_date"))).isoformat()
    except ValueError:
        return None


def _dollars(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if usable else None  # type: ignore[arg-type]


def described(model: Model) -> str:
    price = model.price
    by_kind = price.items() if isinstance(price, dict) else [("", price)] if price is not None else []
    words = ", ".join(f"{kind} {amount:g}".strip() for kind, amount in by_kind) or "no price"
    return words + (f", ends {model.ends}" if model.ends else "")


def row(model: Model) -> dict[str, object]:
    source = f"{model.facts['source']}, read {shipped()['read']}"
    if model.refreshed:
        newer = refreshed(refreshed_file())
        source += f"; then {newer['source']}, read {newer['read']}"
    ends = model.ends.isoformat() if model.ends else None
    return {"vendor": model.vendor, "model": model.name, "price": model.price, "ends": ends, "source": source}
