"""Programs that try the statistics on made-up editors with a known truth, and write the tables of docs/statistics.md.

Each file has `tables(scale)`: Markdown tables by the names under which docs/statistics.md marks their places; `scale`
multiplies the numbers of sets.
"""

from collections.abc import Iterable, Sequence


def markdown(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; the first column is text, the others are numbers."""
    lines = [titles, ["---", *["--:"] * (len(titles) - 1)], *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
