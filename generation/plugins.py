"""What installed packages add, through entry points of the groups `convergebench.editors`, `.metrics` and so on.

The name of an entry point is that of what it adds. CONTRIBUTING.md says what each points to.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points


@cache
def plugins(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"convergebench.{kind}")}
