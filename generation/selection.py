"""Which of a plan's cases run: by program, category, kind and source, and a balanced few of them."""

import dataclasses
import hashlib
import heapq
from collections.abc import Iterable, Sequence

from .records import Chain, UserError
from .suites import Suite

Case = tuple[str, str]  # a source and a program, by their ids


@dataclasses.dataclass(frozen=True)
class Selection:
    """What --program, --category, --kind, --source and --limit say; an empty one leaves everything."""

    programs: Sequence[str] = ()
    categories: Sequence[str] = ()
    kinds: Sequence[str] = ()
    sources: Sequence[str] = ()
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UserError(f"--limit is {self.limit}; it is a whole number from 1")

    def of(self, suite: Suite, chains: Iterable[Chain]) -> list[Chain]:
        """The chains of the chosen cases, in their order; the same cases for every editor."""
        left = list(chains)
        for option, wanted, values in (
            ("--program", self.programs, lambda chain: chain.program.id),
            ("--category", self.categories, lambda chain: chain.program.category),
            ("--kind", self.kinds, lambda chain: chain.source.kind),
            ("--source", self.sources, lambda chain: chain.source.id),
        ):
            there = sorted({values(chain) for chain in left})
            if unknown := [each for each in wanted if each not in there]:
                raise UserError(f"{option} {unknown[0]!r} is in none of the cases left; there are {', '.join(there)}")
            left = [chain for chain in left if not wanted or values(chain) in wanted]
        if self.limit is None:
            return left
        chosen = set(balanced(suite.name, {case_of(chain): chain for chain in left}, self.limit))
        return [chain for chain in left if case_of(chain) in chosen]


def case_of(chain: Chain) -> Case:
    return chain.source.id, chain.program.id


def balanced(seed: str, cases: dict[Case, Chain], limit: int) -> list[Case]:
    """So many cases, each the one whose category, kind, source and program were taken least so far.

    Ties go by a hash, so that the same words choose the same cases everywhere and a larger limit keeps the smaller's.
    """
    taken: dict[tuple[str, str], int] = {}
    chosen: list[Case] = []
    by_hash = sorted(cases, key=lambda case: hashlib.sha256("/".join((seed, *case)).encode()).hexdigest())
    waiting: list[tuple[tuple[int, ...], int]] = [
        ((0, 0, 0, 0), place) for place in range(len(by_hash))
    ]  # a heap, whose counts may have grown since
    while waiting and len(chosen) < limit:
        counts, place = heapq.heappop(waiting)
        now = tuple(taken.get(trait, 0) for trait in traits(cases[by_hash[place]]))
        if now != counts:
            heapq.heappush(waiting, (now, place))
            continue
        chosen.append(by_hash[place])
        for trait in traits(cases[by_hash[place]]):
            taken[trait] = taken.get(trait, 0) + 1
    return chosen


def traits(chain: Chain) -> tuple[tuple[str, str], ...]:
    """What a few cases are balanced by, the first before the others."""
    return (
        ("category", chain.program.category),
        ("kind", chain.source.kind),
        ("source", chain.source.id),
        ("program", chain.program.id),
    )
