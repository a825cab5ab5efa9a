"""What each metric sees and misses: all of them on one scale, and how far they agree."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from convergebench.metric_modules.nr_gap.ranges import BY_PLAIN_NAME, RANGES, plain

from ..palette import SERIES
from ..statistics.cases import RETAINED
from . import curve_view
from .store import Store

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TITLES = {"rmse": "RMSE", "ssim": "SSIM", "lpips": "LPIPS", "clip": "CLIP"}
COLOURS = {"RMSE": 0, "SSIM": 2, "LPIPS": 1, "CLIP": 3}  # as in the view of a chain
SEES = (
    (
        "RMSE, PSNR",
        "every change of a pixel, grain and tint first",
        "what it means: a shift by one pixel costs as much as a lost face",
    ),
    (
        "SSIM",
        "lost and invented structure: edges, texture, blur",
        "colour casts, and small things gone from a large picture",
    ),
    (
        "LPIPS",
        "what looks different: texture, smear, sharpening",
        "slow tints; exactly where, unless its worst tile is looked at",
    ),
    ("LPIPS, worst tile", "one part that became another picture", "damage spread thinly over everything"),
    ("CLIP", "another subject, another scene", "nearly all slow decay: pictures die with their meaning intact"),
    ("Registered PSNR, SSIM", "damage that is left once shift and zoom are undone", "shift and zoom, on purpose"),
    ("Edit made, taken back", "an editor that does nothing, or forgets to undo", "how well what it did looks"),
    (
        "No-reference scores",
        "noise and blur in a picture on its own",
        "a clean picture of something else: they never see the original",
    ),
)


def no_reference(store: Store) -> dict[str, str]:
    """Columns of the scores that hold a no-reference metric, with its name in the table of ranges."""
    if "no reference" not in store.kept:
        names = {column: BY_PLAIN_NAME.get(plain(column)) for column in store.table.column_names}
        numeric = {
            field.name
            for field in store.table.schema
            if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
        }
        store.kept["no reference"] = {column: name for column, name in names.items() if name and column in numeric}
    return store.kept["no reference"]


def scaled(value: float | None, name: str) -> float | None:
    """A no-reference score on 0 to 1, higher is better, by its typical range.

    >>> scaled(34.1, "BRISQUE")
    0.7726666666666667
    """
    if value is None or math.isnan(value):
        return None
    low, high, higher_is_better = RANGES[name]
    share = (value - low) / (high - low)
    return min(max(share if higher_is_better else 1 - share, 0.0), 1.0)


def curves(store: Store, chain: str) -> list[dict[str, Any]]:
    """Every metric of one chain on the scale from 0 to 1, one row per metric and return."""
    row = store.chain(chain)
    length = max(curve_view.length_of(row), 1)
    found = []
    for score in store.scores_of(chain).values():
        if score["position"] != length:
            continue
        for name in RETAINED:
            found.append({"metric": TITLES[name], "round": score["round"], "value": score[f"retained_{name}"]})
        for column, name in no_reference(store).items():
            about = {"metric": f"{name} (no reference)", "round": score["round"]}
            found.append(about | {"value": scaled(score[column], name)})
    known = {each["metric"] for each in found if each["value"] is not None}
    return [each for each in found if each["metric"] in known]


def figure(store: Store, chain: str) -> "Figure":
    """The curves of one chain."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    rows = curves(store, chain)
    there = list(dict.fromkeys(row["metric"] for row in rows))
    apart = [name for name in there if name not in COLOURS]
    for name in there:
        own = [row for row in rows if row["metric"] == name]
        colour, dash = look(apart.index(name)) if name in apart else (SERIES[COLOURS[name]].light, "solid")
        drawn.add_trace(
            go.Scatter(
                x=[0, *(row["round"] for row in own)],
                y=[None if name in apart else 1.0, *(row["value"] for row in own)],
                mode="lines+markers",
                name=name,
                line={"color": colour, "width": 2.6, "dash": dash},
                marker={"size": 6, "color": colour},
                hovertemplate="%{y:.3f}",
            )
        )
    return curve_view.laid_out(drawn, "retained", "retained", bool(rows))


def look(place: int) -> tuple[str, str]:
    """Colour and dash of a no-reference score: broken, in the hues that the others leave free."""
    free = SERIES[len(COLOURS) :]
    return free[place % len(free)].light, curve_view.DASHES[place // len(free) % len(curve_view.DASHES)]


def agreement(store: Store) -> dict[str, Any]:
    """Rank correlations over all returns, and how often each metric is the one that has fallen furthest."""
    if "agreement" not in store.kept:
        store.kept["agreement"] = compared(store)
    return store.kept["agreement"]


def compared(store: Store) -> dict[str, Any]:
    names = {f"retained_{name}": TITLES[name] for name in RETAINED} | no_reference(store)
    returns = store.table.filter(pa.array(closing(store)))
    there = {title: returns[name] for name, title in names.items() if name in returns.column_names}
    columns = {
        title: values.to_numpy().astype(float) for title, values in there.items() if values.null_count < len(values)
    }
    for title in columns.keys() & set(RANGES):
        columns[title] = columns[title] if RANGES[title][2] else -columns[title]
    own = [title for title in columns if title in TITLES.values() and title != "CLIP"]
    together = np.column_stack([columns[title] for title in own]) if own else np.empty((0, 1))
    together = together[np.isfinite(together).all(axis=1)]
    damaged = together[together.min(axis=1) < 1]  # of equals, none is the lowest
    lowest = np.bincount(damaged.argmin(axis=1), minlength=len(own))
    return {
        "metrics": list(columns),
        "correlation": [[spearman(one, other) for other in columns.values()] for one in columns.values()],
        "returns": len(together),
        "lowest": {title: float(count) / max(len(damaged), 1) for title, count in zip(own, lowest, strict=True)},
    }


def closing(store: Store) -> np.ndarray:
    """Which rows of the scores are returns: the last step of a round that should end where it began."""
    column = store.table["chain"].combine_chunks()
    lengths = [curve_view.length_of(row) if (row := store.chains.get(chain)) and row["closes"] else -1
               for chain in column.dictionary.to_pylist()]  # fmt: skip
    return np.array(lengths)[column.indices.to_numpy()] == store.table["position"].to_numpy()


def spearman(first: np.ndarray, second: np.ndarray) -> float | None:
    """Rank correlation over the returns that have both; None where one of them never changes."""
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 3:
        return None
    one, other = ranked(first[both]), ranked(second[both])
    return float(np.corrcoef(one, other)[0, 1]) if min(one.std(), other.std()) > 0 else None


def ranked(values: np.ndarray) -> np.ndarray:
    """Ranks, ties sharing their mean.

    >>> ranked(np.array([3.0, 1.0, 3.0]))
    array([1.5, 0. , 1.5])
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[places]


def sees() -> Sequence[tuple[str, str, str]]:
    return SEES
