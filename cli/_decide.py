"""`plan --decide A,B`: the order of the sources, and what a verdict between two editors costs with early stopping."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.generation.plan import Plan
    from convergebench.metric_modules.halflife.sequential import Forecast

_DIFFERENCES = (0.0, 0.5, 1.0, 2.0, 4.0)  # between the editors, in rounds of twenty; scaled to the plan's rounds
_SPREAD = 0.25  # of the rounds: the standard deviation between sources that is assumed without a pilot


def split_pair(text: str) -> tuple[str, str]:
    """Two editors with their options: 'a:x=1,y=2,b' is a:x=1,y=2 and b."""
    from convergebench.generation.records import UserError

    editors: list[str] = []
    for part in text.split(","):
        is_option = editors and "=" in part.partition(":")[0]
        if is_option:
            editors[-1] += f",{part}"
        else:
            editors.append(part)
    if len(editors) != 2 or not all(editors):
        raise UserError(f"--decide must be two editors with a comma between them, such as paint,jpeg, got {text!r}")
    return editors[0], editors[1]


def decide(plan: "Plan", pilot: Path | None = None, spread: float | None = None) -> dict[str, Any]:
    """Sources in their order, the cost of all of them, forecasts by true difference, and where a pilot stands."""
    from convergebench.generation.editors import trait
    from convergebench.generation.records import UserError
    from convergebench.metric_modules.halflife import sequential
    from convergebench.spaces_app.analysis.comparisons import run_order

    first, second = (choice.label for choice in plan.choices[:2])
    if len(plan.choices) > 2:
        raise UserError(f"suite {plan.suite.name!r} runs an editor under several settings; --decide needs one of each")
    order = run_order(plan.suite.name, [chain.source.id for chain in plan.chains])
    rounds = max(chain.rounds for chain in plan.chains)
    prices = {choice.label: trait(choice.editor, "price")() for choice in plan.choices}
    calls = {name: sum(chain.calls for chain in plan.chains if chain.editor == name) for name in prices}
    dollars = None if None in prices.values() else sum(calls[name] * price for name, price in prices.items())
    values: dict[str, Any] = {"first": first, "second": second, "sources": order, "rounds": rounds}
    values |= {"calls": sum(calls.values()), "dollars": dollars, "needed": sequential.FIRST}
    if len(order) < sequential.FIRST:
        return values
    deviation = _SPREAD * rounds if spread is None else spread
    if pilot is not None:
        standing = _pilot_standing(pilot, first, second, order)
        deviation = standing.pop("spread") or deviation
        values["pilot"] = standing
        if standing["sources"] and not standing["verdict"]:
            standing |= _costs(sequential.forecast_rest(standing["values"], len(order)), values)
        del standing["values"]
    differences = [difference * rounds / 20 for difference in _DIFFERENCES]
    forecasts = {each: sequential.forecast(each, deviation, len(order)) for each in differences}
    rows = [{"difference": each} | _costs(forecast, values) for each, forecast in forecasts.items()]
    return values | {"spread": deviation, "forecasts": rows}


def _costs(forecast: "Forecast", values: dict[str, Any]) -> dict[str, Any]:
    """A forecast, with its share of all calls and dollars."""
    share = forecast.sources / len(values["sources"])
    return {
        "sources_until_stop": forecast.sources,
        "sources_at_most": forecast.most,
        "chance": forecast.chance,
        "calls_until_stop": round(share * values["calls"]),
        "dollars_until_stop": None if values["dollars"] is None else round(share * values["dollars"], 2),
    }


def _pilot_standing(pilot: Path, first: str, second: str, order: list[str]) -> dict[str, Any]:
    """What a scored dataset of both editors shows; sources count in their order, up to the first that is missing."""
    import statistics

    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.generation.records import UserError
    from convergebench.metric_modules.halflife import sequential
    from convergebench.spaces_app.analysis.comparisons import differences_by_source
    from convergebench.spaces_app.reporting.board import check_dataset
    from convergebench.spaces_app.reporting.write import read_analysis

    check_dataset(pilot, 0.5)
    analysis = read_analysis(Reader(pilot), steps=False)
    names = {case.editor for case in analysis.cases}
    for name in (first, second):
        if name not in names:
            raise UserError(f"{pilot} has no scores of {name!r}; it has {', '.join(sorted(names))}")
    by_source = differences_by_source(analysis, first, second)
    missing = [place for place, source in enumerate(order) if source not in by_source]
    values = [by_source[source] for source in order[: missing[0] if missing else None]]
    looks = sequential.follow(values, len(order))
    standing: dict[str, Any] = {
        "sources": len(values),
        "out_of_order": len(by_source) - len(values),
        "values": values,
        "spread": statistics.stdev(by_source.values()) if len(by_source) > 1 else None,
        "next": order[len(values) : len(values) + sequential.EVERY],
        "verdict": "",
    }
    if looks:
        last = looks[-1]
        standing["verdict"] = {"first": first, "second": second}.get(last.verdict, last.verdict)
        standing |= {"looked_at": last.sources, "mean": last.mean, "chance": last.chance}
        standing["interval"] = list(last.interval)
    return standing


def as_text(values: dict[str, Any]) -> str:
    """The forecast for a terminal."""
    first, second, sources = values["first"], values["second"], values["sources"]
    lines = [
        f"which of {first} and {second} keeps more rounds?",
        f"all {len(sources)} sources: {values['calls']:,} calls, {_money(values['dollars'], '$')}",
    ]
    if "forecasts" not in values:
        return "\n".join([*lines, f"there can be no verdict: it needs {values['needed']} sources"])
    lines += [
        f"\nstopping early, at most 5% of verdicts wrong; standard deviation of {values['spread']:.1f} rounds\n",
        f"{'true difference':>15} {'sources':>8} {'9 in 10 within':>15} {'calls':>10} {'dollars':>11} {'verdict':>8}",
    ]
    lines += [
        f"{row['difference']:>15.2f} {row['sources_until_stop']:>8.0f} {row['sources_at_most']:>15.0f} "
        f"{row['calls_until_stop']:>10,} {_money(row['dollars_until_stop']):>11} {row['chance']:>8.0%}"
        for row in values["forecasts"]
    ]
    lines.append(f"\nin this order: {', '.join(sources[: values['needed']])}, ...")
    if "pilot" in values:
        lines += ["", *_pilot_lines(values["pilot"], values)]
    return "\n".join(lines)


def _pilot_lines(pilot: dict[str, Any], values: dict[str, Any]) -> list[str]:
    """Where the comparison stands, and whether to continue."""
    if "mean" not in pilot:
        return [f"{pilot['sources']} sources done in this order; the first look is after {values['needed']}"]
    low, high = pilot["interval"]
    lines = [
        f"after {pilot['looked_at']} sources {values['first']} keeps {pilot['mean']:+.2f} rounds more "
        f"[{low:.2f}, {high:.2f}]"
    ]
    if pilot["verdict"] == "open":
        return [*lines, "stop: a verdict is unlikely"]
    if pilot["verdict"]:
        return [*lines, f"stop: {pilot['verdict']} keeps more"]
    options = " ".join(f"--source {name}" for name in pilot["next"])
    return [
        *lines,
        f"continue: {pilot['chance']:.0%} chance of a verdict, about {pilot['sources_until_stop']:.0f} sources in all, "
        f"{pilot['calls_until_stop']:,} calls, {_money(pilot['dollars_until_stop'])}; next: {options}",
    ]


def _money(dollars: float | None, sign: str = "") -> str:
    return "unknown" if dollars is None else f"{sign}{dollars:,.2f}"
