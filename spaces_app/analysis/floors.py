"""The floor of every reference: what unrelated pictures score against it, where nothing of the original is left."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.retained.floors import SHARE, floor, resembling
from convergebench.metric_modules.scores import FloorRow
from convergebench.metric_modules.specs import ceilings, quality_columns

_ValuesByMetric = dict[str, dict[str, float]]  # metric -> unrelated picture -> value


class Floors:
    """The dataset's floors by source and size, over the unrelated sources of each chain's own suite."""

    def __init__(self, floors: Iterable[FloorRow], chains: Iterable[FinishedChain]):
        self.values: dict[tuple[str, int], _ValuesByMetric] = defaultdict(lambda: defaultdict(dict))
        for row in floors:
            if row.value is not None:
                self.values[row.source, row.short_side][row.metric][row.other] = row.value
        self.sources_of_suite: dict[str, set[str]] = defaultdict(set)
        self.name_of: dict[str, str] = {}  # imported sources are NAME-DIGEST: two encodings of a picture share the name
        for chain in chains:
            self.sources_of_suite[chain.suite].add(chain.source.id)
            self.name_of[chain.source.id] = chain.source.id.removesuffix(f"-{chain.source.sha256[:8]}")
        self.cached: dict[tuple[str, int | None, str], _ValuesByMetric] = {}

    def unrelated_values(self, chain: FinishedChain) -> _ValuesByMetric:
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
            self.cached[key] = self.without_encodings(key[0], {metric: each for metric, each in own.items() if each})
        return self.cached[key]

    def without_encodings(self, source: str, values: _ValuesByMetric) -> _ValuesByMetric:
        """The values without those of the same picture in another encoding: it has the name, and resembles it."""
        name = self.name_of.get(source)
        of_other_names = _choose_others(values, lambda other: self.name_of.get(other) != name)
        alike = _resembling_others(values, of_other_names) if of_other_names != values else {}
        same = {other for other, is_like in alike.items() if is_like and self.name_of.get(other) == name}
        return _choose_others(values, lambda other: other not in same) if same else values

    def floor(self, chain: FinishedChain, metric: str) -> float | None:
        """The median over the unrelated pictures; None where there are none."""
        values = self.unrelated_values(chain).get(metric)
        return floor(list(values.values())) if values else None

    def look_alikes(self, chains: Iterable[FinishedChain]) -> dict[str, list[str]]:
        """Sources that more than 5% of unrelated pictures resemble on all qualities, each with those pictures.

        No headline counts them.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for chain in {(chain.source.id, chain.short_side, chain.suite): chain for chain in chains}.values():
            marks = _resembling_others(self.unrelated_values(chain))
            if sum(marks.values()) > SHARE * len(marks):
                found[chain.source.id] |= {other for other, is_like in marks.items() if is_like}
        return {name: sorted(others) for name, others in sorted(found.items())}


def _choose_others(values: _ValuesByMetric, is_chosen: Callable[[str], bool]) -> _ValuesByMetric:
    """The values of some of the other pictures; a metric without any is left out."""
    kept = {metric: {other: each[other] for other in each if is_chosen(other)} for metric, each in values.items()}
    return {metric: each for metric, each in kept.items() if each}


def _resembling_others(values: _ValuesByMetric, floors_of: _ValuesByMetric | None = None) -> dict[str, bool]:
    """Whether each unrelated picture resembles the reference on all qualities; empty where they are not all known.

    The floors are medians of the values, or of others.
    """
    qualities, untouched, floors_of = quality_columns(), ceilings(), floors_of or values
    if not all(values.get(metric) and floors_of.get(metric) for metric in qualities):
        return {}
    others = sorted(set.intersection(*(set(values[metric]) for metric in qualities)))
    columns = {metric: [values[metric][other] for other in others] for metric in qualities}
    medians = {metric: floor(list(floors_of[metric].values())) for metric in qualities}
    if any(medians[metric] == untouched[metric] for metric in qualities):
        return {}
    return dict(zip(others, resembling(columns, medians, untouched), strict=True))


def excluded_text(look_alikes: Mapping[str, Sequence[str]]) -> str:
    """The excluded sources, each with the pictures that resemble it, no more than three of them by name."""
    found = []
    for source, others in look_alikes.items():
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        found.append(f"{source} (like {', '.join(others[:3])}{more})")
    return ", ".join(found)
