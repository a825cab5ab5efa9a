"""Programs that try the statistics on made-up editors with a known truth, and write the tables of docs/statistics.md.

Each file has `tables(scale)`: Markdown tables by the names under which docs/statistics.md marks their places; `scale`
multiplies the numbers of sets.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path


def markdown(titles: Sequence[str], rows: Iterable[Sequence[object]], others: str = "--:") -> str:
    """A table; the first column is text, the others are numbers unless told otherwise."""
    lines = [titles, ["---", *[others] * (len(titles) - 1)], *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def put(page: Path, name: str, text: str, end: str = "end") -> None:
    """Write a text between the page's mark of that name and the next mark `end`."""
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")
    after = rest.split(f"<!-- {end} -->", 1)[1]
    page.write_text(f"{before}<!-- {name} -->\n{text}<!-- {end} -->{after}", encoding="utf-8")
