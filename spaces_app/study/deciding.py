"""What is known of two editors so far, source by source in the order of a run that may be stopped early."""

import hashlib
from collections.abc import Iterable

from .comparisons import compare_editors, outcomes_by_case
from .groups import group_cases
from .study import Study

LARGEST = ("round trips", "replication")  # the first of these that both editors have is the headline


def run_order(seed: str, sources: Iterable[str]) -> list[str]:
    """The sources in an order by chance that is the same everywhere: who comes first depends on no result.

    >>> run_order("v1", ["a", "b", "c"]) == run_order("v1", ["c", "b", "a"])
    True
    """
    return sorted(set(sources), key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).hexdigest())


def differences_by_source(study: Study, first: str, second: str) -> dict[str, float]:
    """How many rounds more the first keeps than the second, on average over the common cases of each source."""
    groups = group_cases(
        [case for case in study.cases if case.editor in (first, second)], study.excluded, None, study.roles, True
    )
    for name in LARGEST:
        if name in groups and len(groups[name].cases) == 2:
            [pair] = compare_editors(outcomes_by_case(groups[name], study.options.threshold), [first, second])
            return {str(source): value for source, value in pair.by_source.items()}
    return {}
