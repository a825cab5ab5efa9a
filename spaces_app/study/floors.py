"""Where nothing is left: the floors of every reference, and the references that too many strangers resemble."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from convergebench.metric_modules.retained.floors import QUALITIES, excluded, floor

Row = Mapping[str, Any]


class Floors:
    """The dataset's floors by source and size, over the unrelated sources of each chain's own suite."""

    def __init__(self, floors: Iterable[Row], chains: Iterable[Row]):
        self.pairs: dict[tuple[str, int], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        for row in floors:
            if row["value"] is not None:
                self.pairs[row["source"], row["short_side"]][row["metric"]][row["other"]] = row["value"]
        self.suites: dict[str, set[str]] = defaultdict(set)
        for row in chains:
            self.suites[row["suite"]].add(row["source"])
        self.known: dict[tuple[str, int | None, str], dict[str, dict[str, float]]] = {}

    def unrelated(self, chain: Row) -> dict[str, dict[str, float]]:
        """Each metric's values for the unrelated pictures, by their names."""
        key = chain["source"], chain.get("short_side"), chain["suite"]
        if key not in self.known:
            sizes = [size for source, size in self.pairs if source == key[0]]
            size = key[1] if key[1] is not None else sizes[0] if len(sizes) == 1 else None
            found = self.pairs.get((key[0], size), {}) if size is not None else {}
            members = self.suites[key[2]]
            own = {
                metric: {other: value for other, value in values.items() if other in members}
                for metric, values in found.items()
            }
            self.known[key] = {metric: values for metric, values in own.items() if values}
        return self.known[key]

    def floor(self, chain: Row, metric: str) -> float | None:
        """The median over the unrelated pictures; None where there are none."""
        values = self.unrelated(chain).get(metric)
        return floor(list(values.values())) if values else None

    def excluded(self, chains: Iterable[Row]) -> list[str]:
        """Sources that more than 5% of unrelated pictures resemble on all qualities: no headline counts them."""
        names = set()
        for chain in {(row["source"], row.get("short_side"), row["suite"]): row for row in chains}.values():
            found = self.unrelated(chain)
            if not all(found.get(metric) for metric in QUALITIES):
                continue
            others = sorted(set.intersection(*(set(found[metric]) for metric in QUALITIES)))
            values = {metric: [found[metric][other] for other in others] for metric in QUALITIES}
            own = {metric: floor(list(found[metric].values())) for metric in QUALITIES}
            if others and all(own[metric] != (1.0 if metric == "ssim" else 0.0) for metric in QUALITIES):
                names |= {chain["source"]} if excluded(values, own) else set()
        return sorted(names)
