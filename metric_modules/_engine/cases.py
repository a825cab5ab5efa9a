"""What there is to score: every chain of a dataset with its steps, told from the files without reading a picture."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa
from convergebench.dataset_builder.dataset.schema import Place, Reader

PICTURED = ("input", "ok", "shrunk")  # the statuses of a step that has a picture
MISSING = "missing"  # the status of a step whose file is gone
SCORED = ("ok",)  # a shrunk answer ends its chain like a refusal; its distance would tell of the resize
STEP = ("step", "round", "position", "instruction", "status", "reason", "sha256", "width", "height", "details", "chain")


@dataclass(frozen=True)
class Shot:
    """One step: what the dataset says of it, and where its picture lies."""

    step: int
    round: int
    position: int
    status: str
    reason: str | None
    sha256: str | None
    width: int | None
    height: int | None
    details: str | None
    place: Place | None

    @property
    def scored(self) -> bool:
        return self.status in SCORED

    @property
    def mirrored(self) -> bool:
        """Whether the recall audit had mirrored the picture that this step was given."""
        return bool((json.loads(self.details or "{}").get("audit") or {}).get("mirrored"))

    @property
    def key(self) -> tuple[str | None, bool]:
        """Equal for steps whose pictures score the same."""
        return self.sha256, self.mirrored


@dataclass(frozen=True)
class Case:
    """One chain: its row of `chains`, its input, and its steps from 1 on."""

    chain: dict[str, Any]
    input: Shot | None  # None where the file that held the steps is gone
    steps: tuple[Shot, ...]
    own_reference: Place | None  # in `chains`, where the reference is another picture than the input

    @property
    def id(self) -> str:
        return self.chain["chain"]

    @property
    def order(self) -> tuple[Any, ...]:
        """The order of the rows in the scores."""
        return tuple(self.chain[name] for name in ("editor", "source", "program", "run", "chain"))

    @property
    def reference(self) -> str:
        """Names the reference: equal for chains that are compared with the same picture."""
        shown = str(self.input and self.input.sha256)
        if self.own_reference is not None:
            return f"{self.chain['reference_sha256'] or self.id}:{shown}"
        return shown

    @property
    def cycle(self) -> list[str]:
        return json.loads(self.chain["cycle"])

    @property
    def small(self) -> bool:
        return bool(self.chain["small"])

    @property
    def digest(self) -> str:
        """Changes when any picture of the chain does, and so tells whether known scores are still its own."""
        words = [self.reference, self.chain["short_side"], *(shot.sha256 for shot in self.steps)]
        return sha256(json.dumps(words).encode()).hexdigest()[:16]

    @property
    def pixels(self) -> int:
        """Of the largest picture."""
        return max(((shot.width or 0) * (shot.height or 0) for shot in (self.input, *self.steps) if shot), default=0)

    @property
    def cost(self) -> int:
        """Pixels to decode and compare, with a constant for what does not grow with the picture."""
        different = {shot.key: (shot.width or 0) * (shot.height or 0) for shot in self.steps if shot.scored}
        return sum(different.values()) + 250_000 * len(different) + 1


def find(reader: Reader) -> list[Case]:
    """Every chain of the dataset, those with equal references side by side."""
    sources = {row["source"]: row["reference"] for row in reader.table("sources", ["source", "reference"]).to_pylist()}
    own = [row["reference"] is not None for row in reader.table("chains", ["reference.path"]).to_pylist()]
    steps = shots(reader)
    cases = []
    for row, place, other in zip(reader.table("chains").to_pylist(), reader.places("chains"), own, strict=True):
        row["reference_sha256"] = sources.get(row["source"])
        known = {shot.step: shot for shot in steps.get(row["chain"], [])}
        rest = [known.get(number) or missing(row, number) for number in range(1, (row["steps"] or 0) + 1)]
        cases.append(Case(row, known.get(0), tuple(rest), place if other or row["reference_sha256"] else None))
    return sorted(cases, key=lambda case: (case.chain["source"], case.reference, case.order))


def shots(reader: Reader) -> dict[str, list[Shot]]:
    """The steps of each chain; those in a file that cannot be read are left out."""
    found: dict[str, list[Shot]] = defaultdict(list)
    for place, row in step_rows(reader):
        values = {name: row[name] for name in Shot.__dataclass_fields__ if name != "place"}
        found[row["chain"]].append(Shot(**values, place=place))
    return found


def step_rows(reader: Reader) -> Iterator[tuple[Place, dict[str, Any]]]:
    for file in reader.files("steps"):
        try:
            footer = reader.footer(file)
            with reader.open(file) as opened:
                rows = opened.read(columns=list(STEP)).to_pylist()
        except (OSError, pa.ArrowException):
            continue
        numbers = iter(rows)
        for group in range(footer.num_row_groups):
            for row in range(footer.row_group(group).num_rows):
                yield Place(file, group, row), next(numbers)


def missing(row: dict[str, Any], number: int) -> Shot:
    """A step the chain is known to have had, from the chain's own row."""
    length = len(json.loads(row["cycle"]))
    round, position = (number - 1) // length + 1, (number - 1) % length + 1
    return Shot(number, round, position, MISSING, "its file is not in the dataset", *(None,) * 5)
