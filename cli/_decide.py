"""What `plan --decide A,B` says: which sources come first, and what a verdict between two editors will cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.generation.plan import Plan

DIFFERENCES = (0.0, 0.5, 1.0, 2.0, 4.0)  # rounds, of twenty; scaled with the plan's rounds
SPREAD = 0.25  # of the rounds: the standard deviation between sources that is taken where nothing is known


def split_pair(words: str) -> tuple[str, str]:
    """Two editors with their options: 'a:x=1,y=2,b' is a:x=1,y=2 and b."""
    from convergebench.generation.records import UserError

    found: list[str] = []
    for word in words.split(","):
        is_option = found and "=" in word.partition(":")[0]
        if is_option:
            found[-1] += f",{word}"
        else:
            found.append(word)
    if len(found) != 2 or not all(found):
        raise UserError(f"--decide is {words!r}; it is two editors with a comma between them, such as paint,jpeg")
    return found[0], found[1]


def decide(plan: "Plan", pilot: Path | None = None, spread: float | None = None) -> dict[str, Any]:
    """Sources in their order, the cost of all of them, forecasts by true difference, and what a pilot says so far."""
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
    known = None if None in prices.values() else sum(calls[name] * price for name, price in prices.items())
    found: dict[str, Any] = {
        "first": first,
        "second": second,
        "sources": order,
        "calls": sum(calls.values()),
        "dollars": known,
        "rounds": rounds,
        "needed": sequential.FIRST,
    }
    if len(order) < sequential.FIRST:
        return found
    deviation = SPREAD * rounds if spread is None else spread
    if pilot is not None:
        seen = seen_so_far(pilot, first, second, order)
        deviation = seen.pop("spread") or deviation
        found["pilot"] = seen
    found["spread"] = deviation
    found["forecasts"] = [
        costs(sequential.forecast(difference * rounds / 20, deviation, len(order)), found)
        | {"difference": difference * rounds / 20}
        for difference in DIFFERENCES
    ]
    if pilot is not None and found["pilot"]["sources"] and not found["pilot"]["verdict"]:
        found["pilot"] |= costs(sequential.forecast_rest(found["pilot"].pop("values"), len(order)), found)
    found.get("pilot", {}).pop("values", None)
    return found


def costs(forecast: Any, found: dict[str, Any]) -> dict[str, Any]:
    """A forecast with its share of all calls and dollars."""
    share = forecast.sources / len(found["sources"])
    return {
        "sources_until_stop": forecast.sources,
        "sources_at_most": forecast.most,
        "chance": forecast.chance,
        "calls_until_stop": round(share * found["calls"]),
        "dollars_until_stop": None if found["dollars"] is None else round(share * found["dollars"], 2),
    }


def seen_so_far(pilot: Path, first: str, second: str, order: list[str]) -> dict[str, Any]:
    """What a scored dataset of both editors says; sources count in their order, up to the first that is not there."""
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
            raise UserError(f"{pilot} has no scores of {name!r}; there are {', '.join(sorted(names))}")
    by_source = differences_by_source(analysis, first, second)
    values = []
    for source in order:
        if source not in by_source:
            break
        values.append(by_source[source])
    looks = sequential.follow(values, len(order))
    last = looks[-1] if looks else None
    every = list(by_source.values())
    mean = sum(every) / len(every) if every else 0.0
    about: dict[str, Any] = {"sources": len(values), "out_of_order": len(by_source) - len(values), "values": values}
    about["spread"] = (sum((each - mean) ** 2 for each in every) / (len(every) - 1)) ** 0.5 if len(every) > 1 else None
    about["next"] = order[len(values) : len(values) + sequential.EVERY]
    about["verdict"] = {"first": first, "second": second}.get(last.verdict, last.verdict) if last else ""
    if last:
        about |= {"looked_at": last.sources, "mean": last.mean, "interval": list(last.interval), "chance": last.chance}
    return about


def as_text(found: dict[str, Any]) -> str:
    """For a terminal."""
    first, second, sources = found["first"], found["second"], found["sources"]
    dollars = "unknown" if found["dollars"] is None else f"${found['dollars']:,.2f}"
    lines = [
        f"which of {first} and {second} keeps more rounds?",
        f"all {len(sources)} sources: {found['calls']:,} calls, {dollars}",
    ]
    if "forecasts" not in found:
        return "\n".join([*lines, f"no verdict can come: it needs {found['needed']} sources"])
    lines += [
        f"\nstopping early, at most 5% of verdicts false; sources differ by {found['spread']:.1f} rounds (deviation)\n",
        f"{'true difference':>15} {'sources':>8} {'9 in 10 within':>15} {'calls':>10} {'dollars':>11} {'verdict':>8}",
    ]
    lines += [
        f"{each['difference']:>15.2f} {each['sources_until_stop']:>8.0f} {each['sources_at_most']:>15.0f} "
        f"{each['calls_until_stop']:>10,} {money(each['dollars_until_stop']):>11} {each['chance']:>8.0%}"
        for each in found["forecasts"]
    ]
    lines.append(f"\nin this order: {', '.join(sources[: found['needed']])}, ...")
    if "pilot" in found:
        lines += ["", *pilot_lines(found["pilot"], found)]
    return "\n".join(lines)


def pilot_lines(pilot: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Where the comparison stands, and whether to go on."""
    if "mean" not in pilot:
        return [f"{pilot['sources']} sources are there in this order; the first look is after {found['needed']}"]
    low, high = pilot["interval"]
    more = f"{pilot['mean']:+.2f} rounds more [{low:.2f}, {high:.2f}]"
    lines = [f"after {pilot['looked_at']} sources {found['first']} keeps {more}"]
    if pilot["verdict"] == "open":
        return [*lines, "stop: a verdict will hardly come"]
    if pilot["verdict"]:
        return [*lines, f"stop: {pilot['verdict']} keeps more"]
    words = " ".join(f"--source {name}" for name in pilot["next"])
    return [
        *lines,
        f"go on, {pilot['chance']:.0%} chance of a verdict, about {pilot['sources_until_stop']:.0f} sources in all, "
        f"{pilot['calls_until_stop']:,} calls, {money(pilot['dollars_until_stop'])}; next: {words}",
    ]


def money(dollars: float | None) -> str:
    return "unknown" if dollars is None else f"{dollars:,.2f}"
