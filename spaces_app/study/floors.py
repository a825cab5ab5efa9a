"""The floor of every reference: what unrelated pictures score against it, where nothing of the original is left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.retained.floors import excluded, floor
from convergebench.metric_modules.specs import ceilings, quality_columns

Row = Mapping[str, Any]
ValuesByMetric = dict[str, dict[str, float]]  # metric -> unrelated picture -> value


class Floors:
    """The dataset's floors by source and size, over the unrelated sources of each chain's own suite."""

    def __init__(self, floors: Iterable[Row], chains: Iterable[FinishedChain]):
        self.values: dict[tuple[str, int], ValuesByMetric] = defaultdict(lambda: defaultdict(dict))
        for row in floors:
            if row["value"] is not None:
                self.values[row["source"], row["short_side"]][row["metric"]][row["other"]] = row["value"]
        self.sources_of_suite: dict[str, set[str]] = defaultdict(set)
        for chain in chains:
            self.sources_of_suite[chain.suite].add(chain.source.id)
        self.cached: dict[tuple[str, int | None, str], ValuesByMetric] = {}

    def unrelated_values(self, chain: FinishedChain) -> ValuesByMetric:
        """What the unrelated pictures of the chain's suite score against the chain's reference."""
        key = chain.source.id, chain.short_side, chain.suite
        if key not in self.cached:
            sizes = [size for source, size in self.values if source == key[0]]
            size = key[1] if key[1] is not None else sizes[0] if len(sizes) == 1 else None
            found = self.values.get((key[0], size), {}) if size is not None else {}
            suite = self.sources_of_suite[key[2]]
            own = {
                metric: {other: value for other, value in values.items() if other in suite}
                for metric, values in found.items()
            }
            self.cached[key] = {metric: values for metric, values in own.items() if values}
        return self.cached[key]

    def floor(self, chain: FinishedChain, metric: str) -> float | None:
        """The median over the unrelated pictures; None where there are none."""
        values = self.unrelated_values(chain).get(metric)
        return floor(list(values.values())) if values else None

    def excluded_sources(self, chains: Iterable[FinishedChain]) -> list[str]:
        """Sources that more than 5% of unrelated pictures resemble on all qualities: no headline counts them."""
        names: set[str] = set()
        qualities, untouched = quality_columns(), ceilings()
        for chain in {(chain.source.id, chain.short_side, chain.suite): chain for chain in chains}.values():
            values = self.unrelated_values(chain)
            if not all(values.get(metric) for metric in qualities):
                continue
            others = sorted(set.intersection(*(set(values[metric]) for metric in qualities)))
            columns = {metric: [values[metric][other] for other in others] for metric in qualities}
            medians = {metric: floor(list(values[metric].values())) for metric in qualities}
            if others and all(medians[metric] != untouched[metric] for metric in qualities):
                names |= {chain.source.id} if excluded(columns, medians, untouched) else set()
        return sorted(names)
