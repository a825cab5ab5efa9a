"""Lines for the Metrics tab: metrics without a reference, on their typical ranges."""

from collections.abc import Iterable

from convergebench.metric_modules.no_reference.ranges import BY_PLAIN_NAME, RANGES, plain


def metric_lines(columns: Iterable[str]) -> dict[str, tuple[str, float, float]]:
    lines = {}
    for column in columns:
        if name := BY_PLAIN_NAME.get(plain(column)):
            low, high, higher_is_better = RANGES[name]
            lines[column] = (name, low, high) if higher_is_better else (name, high, low)
    return lines
