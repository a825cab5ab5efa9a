"""What a comparison with published work gives: claims that hold or fail, tables, and where the data came from."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulations import markdown

SAME = 1e-9  # relative; between what is measured and what was frozen


@dataclass(frozen=True)
class Claim:
    """One sentence that the data at hand proves or disproves."""

    words: str
    holds: bool


@dataclass
class Section:
    """One comparison, as docs/referee.md shows it."""

    title: str
    compared: list[str] = field(default_factory=list)  # which data, from where
    claims: list[Claim] = field(default_factory=list)
    text: list[str] = field(default_factory=list)  # paragraphs and tables after the claims
    measured: dict[str, float] = field(default_factory=dict)  # sums over all pictures

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    def compare_with(self, frozen: Mapping[str, float]) -> None:
        """Claim that every sum is what it was when it was frozen; sums that were not frozen are named."""
        shared = {name: value for name, value in self.measured.items() if name in frozen}
        changed = [name for name, value in shared.items() if abs(value - frozen[name]) > SAME * abs(frozen[name])]
        if shared:
            sums = f"The sums of PSNR over all pictures ({len(shared)} of them)"
            words = f"{sums} have not changed since this page was first written"
            self.claims.append(Claim(words + (f"; not so: {', '.join(changed)}" if changed else ""), not changed))
        if new := sorted(self.measured.keys() - shared.keys()):
            self.text.append(f"Not frozen before, so not compared with an earlier run: {', '.join(new)}.")

    def markdown(self) -> str:
        parts = [f"## {self.title}", *(f"*{words}*" for words in self.compared)]
        claims = [f"- {'Holds' if each.holds else '**Fails**'}: {each.words}." for each in self.claims]
        if claims:
            parts.append("\n".join(claims))
        return "\n\n".join([*parts, *self.text])


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers with three digits after the point."""
    texts = [[f"{value:.3f}" if isinstance(value, float) else value for value in row] for row in rows]
    cells = [["" if value is None else value for value in row] for row in texts]
    return markdown(head, cells, "---").rstrip()


def origin(path: Path) -> str:
    if (path / ".git").exists():
        command = ["git", "-C", str(path), "log", "-1", "--format=%H of %cs"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return f"{path.name}, commit {done.stdout.strip()}"
    return f"{path.name}, which says neither commit nor date"
