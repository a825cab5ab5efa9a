"""Editors, metrics and other parts that installed packages add, by the entry points of `convergebench.editors` etc.

An entry point has the name of the part that it adds.
CONTRIBUTING.md says what the entry points of each group refer to.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points


@cache
def plugins(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"convergebench.{kind}")}
