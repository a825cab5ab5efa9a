"""Score tables that others published: half-lives, pairs and curves by the same rules, under their own definitions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.comparison import Comparison, compare
from convergebench.metric_modules.halflife.outcomes import Outcome, curve_outcome
from convergebench.metric_modules.halflife.summary import summarise

from ..study.comparisons import comparison_row, correct_together
from ..study.tables import Column, Table
from .curves import value_rows

UNTOUCHED = {"ssim": 1.0, "clip": 1.0}  # metrics on which half of the untouched value can be asked for without a floor
LOWER = ("rmse", "lpips")
METRICS = ("psnr", "rmse", "ssim", "lpips", "clip")
COLUMNS = (
    Column("table", "Table"),
    Column("editor", "Editor"),
    Column("metric", "Metric"),
    Column("half_life_text", "Below half of the untouched value", interval=True),
    Column("first", "Mean after the first round", "number", interval=True),
    Column("last", "Mean after the last round", "number", interval=True),
    Column("last_round", "Last round", "count"),
    Column("cases", "Cases", "count"),
    Column("sources", "Pictures", "count"),
)
PAIRS = (
    Column("table", "Table"),
    Column("metric", "Metric"),
    Column("first", "Editor"),
    Column("second", "Against"),
    Column("difference", "Mean difference", "number", interval=True),
    Column("cases", "Common cases", "count"),
    Column("left_out", "Left out", "count"),
    Column("sources", "Pictures", "count"),
    Column("p_value", "p", "p"),
    Column("p_holm", "p (Holm)", "p"),
    Column("verdict", "Verdict"),
)
NOTE = "Published numbers keep the definitions of whoever made them: they never share a table with ours."
Row = Mapping[str, Any]
Curves = dict[tuple[str, int], dict[int, float]]  # by case and run: the values by round


def tables(rows: Iterable[Row], chains: Iterable[Row]) -> tuple[list[Table], list[dict[str, Any]]]:
    """The table of editors, that of pairs, and rows for the curves; nothing is computed for a metric without values."""
    sources = {row["chain"]: row["source"] for row in chains}
    found: dict[tuple[str, str], dict[str, Curves]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    source_of: dict[tuple[str, int], str] = {}
    for row in rows:
        key = row["case"], row["run"]
        # A case whose picture is not in this dataset stands for itself.
        source_of[key] = sources.get(row["chain"]) or source_of.get(key) or row["case"]
        for metric in METRICS:
            if row.get(metric) is not None:
                found[row["table"], metric][row["editor"]][key][row["round"]] = row[metric]
    editors: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    for (table, metric), own in found.items():
        rounds = sorted({round for cases in own.values() for values in cases.values() for round in values})
        about = {"table": table, "metric": metric}
        for editor, cases in own.items():
            lines = curve_rows(cases, rounds, source_of, metric)
            editors.append(about | {"editor": editor} | editor_row(cases, rounds, source_of, metric, lines))
            place = {"group": table, "slice": "all", "editor": editor, "metric": metric, "on": "own"}
            curves += [place | line for line in lines]
        pairs += [about | row for row in pair_rows(own, source_of, metric)]
    made = [
        Table("published", "Published scores", COLUMNS, editors, NOTE if editors else ""),
        Table("published_pairs", "Published scores, editors against each other on common cases", PAIRS, pairs),
    ]
    return made, curves


def curve_rows(
    cases: Curves, rounds: Sequence[int], source_of: Mapping[tuple[str, int], str], metric: str
) -> list[dict[str, Any]]:
    values = np.array([[values.get(round) for round in rounds] for values in cases.values()], float)
    rows = value_rows(values, [source_of[key] for key in cases], metric)
    return [row | {"round": rounds[row["round"] - 1]} for row in rows]


def editor_row(
    cases: Curves,
    rounds: Sequence[int],
    source_of: Mapping[tuple[str, int], str],
    metric: str,
    lines: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """One editor on one metric: where it begins, where it ends and, where the scale allows, its half-life."""
    sources = [source_of[key] for key in cases]
    row: dict[str, Any] = {"cases": len(cases), "sources": len(set(sources)), "last_round": lines[-1]["round"]}
    for name, line in (("first", lines[0]), ("last", lines[-1])):
        row |= {name: line["mean"], f"{name}_low": line["mean_low"], f"{name}_high": line["mean_high"]}
    if metric in UNTOUCHED:
        own = summarise([fate_of(values, rounds, metric) for values in cases.values()], rounds, sources)
        low, high = own["half_life_interval"] or (None, None)
        row |= {"half_life_text": own["half_life_text"], "half_life_text_low": low, "half_life_text_high": high}
    return row


def fate_of(values: Mapping[int, float], rounds: Sequence[int], metric: str) -> Outcome:
    untouched = UNTOUCHED[metric]
    return curve_outcome([values.get(round) for round in rounds], rounds, untouched / 2, start=untouched)


def pair_rows(own: Mapping[str, Curves], source_of: Mapping[tuple[str, int], str], metric: str) -> list[dict[str, Any]]:
    """Every two editors on the rounds and cases that both have; better is positive, whatever the metric's direction."""
    names = sorted(own)
    pairs = [both(own, source_of, metric, a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    return [comparison_row(pair) for pair in correct_together(pairs)]


def both(
    own: Mapping[str, Curves], source_of: Mapping[tuple[str, int], str], metric: str, first: str, second: str
) -> Comparison:
    sign = -1 if metric in LOWER else 1
    means: list[dict[Any, float | None]] = [{}, {}]
    for key in own[first].keys() | own[second].keys():
        sides = [own[first].get(key, {}), own[second].get(key, {})]
        shared = sides[0].keys() & sides[1].keys()
        for mean, side in zip(means, sides, strict=True):
            if side:
                mean[key] = sign * sum(side[round] for round in shared) / len(shared) if shared else None
    return compare((first, second), means[0], means[1], dict(source_of))
