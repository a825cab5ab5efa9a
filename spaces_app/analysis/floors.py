"""Floors: how unrelated pictures score against a reference."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from convergebench.dataset_builder.dataset.rows import FloorRow
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules._engine.floors import floor, retained_value
from convergebench.metric_modules.specs import ceilings, checked_columns

_CLOSE = 0.5  # retained quality above which an unrelated picture would pass for half the original
_SHARE = 0.05  # of resembling pictures; a reference with more (a texture, say) is left out of headlines
_ValuesByMetric = dict[str, dict[str, float]]  # metric -> unrelated picture -> value


class Floors:
    """What the other sources of a suite score against each source, at each size."""

    def __init__(self, floors: Iterable[FloorRow], chains: Iterable[FinishedChain]):
        self._values: dict[tuple[str, int], _ValuesByMetric] = defaultdict(lambda: defaultdict(dict))
        for row in floors:
            if row.value is not None:
                self._values[row.source, row.short_side][row.metric][row.other] = row.value
        self._sources_of_suite: dict[str, set[str]] = defaultdict(set)
        self._name_of: dict[str, str] = {}  # of an imported source, NAME-DIGEST
        for chain in chains:
            self._sources_of_suite[chain.suite].add(chain.source.id)
            self._name_of[chain.source.id] = chain.source.id.removesuffix(f"-{chain.source.sha256[:8]}")
        self._cached: dict[tuple[str, int | None, str], _ValuesByMetric] = {}

    def unrelated_values(self, chain: FinishedChain) -> _ValuesByMetric:
        """What unrelated pictures of the suite score against the chain's reference."""
        source, size, suite = key = chain.source.id, chain.short_side, chain.suite
        if key not in self._cached:
            sizes = [stored_size for stored, stored_size in self._values if stored == source]
            if size is None and len(sizes) == 1:
                size = sizes[0]
            values = self._values.get((source, size), {}) if size is not None else {}
            self._cached[key] = self._without_encodings(source, _among(values, self._sources_of_suite[suite]))
        return self._cached[key]

    def _without_encodings(self, source: str, values: _ValuesByMetric) -> _ValuesByMetric:
        """Without other encodings of the same picture, which have its name and look like it."""
        name = self._name_of.get(source)
        others = {other for by_other in values.values() for other in by_other}
        of_name = {other for other in others if self._name_of.get(other) == name}
        if not of_name:
            return values
        alike = _resembling(values, _among(values, others - of_name))
        return _among(values, others - {other for other in of_name if alike.get(other)})

    def floor(self, chain: FinishedChain, metric: str) -> float | None:
        values = self.unrelated_values(chain).get(metric)
        return floor(list(values.values())) if values else None

    def look_alikes(self, chains: Iterable[FinishedChain]) -> dict[str, list[str]]:
        """Sources that over 5% of unrelated pictures resemble, with those."""
        look_alikes: dict[str, set[str]] = defaultdict(set)
        for chain in {(chain.source.id, chain.short_side, chain.suite): chain for chain in chains}.values():
            values = self.unrelated_values(chain)
            resembles = _resembling(values, values)
            if sum(resembles.values()) > _SHARE * len(resembles):
                look_alikes[chain.source.id] |= {other for other, is_like in resembles.items() if is_like}
        return {name: sorted(others) for name, others in sorted(look_alikes.items())}


def _among(values: _ValuesByMetric, others: Collection[str]) -> _ValuesByMetric:
    chosen = {
        metric: {other: value for other, value in by_other.items() if other in others}
        for metric, by_other in values.items()
    }
    return {metric: by_other for metric, by_other in chosen.items() if by_other}


def _resembling(values: _ValuesByMetric, floors_of: _ValuesByMetric) -> dict[str, bool]:
    """Whether each picture passes for the reference by every quality metric; empty if one has no values."""
    qualities, untouched = checked_columns("quality"), ceilings()
    if not all(values.get(metric) and floors_of.get(metric) for metric in qualities):
        return {}
    others = sorted(set.intersection(*(set(values[metric]) for metric in qualities)))
    medians = {metric: floor(list(floors_of[metric].values())) for metric in qualities}
    if any(medians[metric] == untouched[metric] for metric in qualities):
        return {}
    return {
        other: all(
            retained_value(values[metric][other], medians[metric], untouched[metric]) > _CLOSE
            for metric in qualities
        )
        for other in others
    }


def excluded_text(look_alikes: Mapping[str, Sequence[str]]) -> str:
    """The sources with the pictures like them, three by name."""
    texts = []
    for source, others in look_alikes.items():
        and_more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        texts.append(f"{source} (like {', '.join(others[:3])}{and_more})")
    return ", ".join(texts)
