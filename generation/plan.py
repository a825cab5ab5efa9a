"""Plans a run: its chains, calls and expected images, bytes and dollars, before anything runs."""

import hashlib
import heapq
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import audits, editors, policies, reversibility, suites
from .loop import prepared_size
from .records import REVERSIBILITY, Chain, Json, UserError

_BYTES_PER_PIXEL = 1.5  # of a typical photograph as PNG
_FEWEST_PICTURES = 3  # with two of a user's pictures, the floor would be a single comparison

Case = tuple[str, str]  # a source and a program, by their ids


@dataclass(frozen=True)
class Plan:
    """The chains that the chosen editors run for a suite; equal arguments give equal chains."""

    suite: suites.Suite
    choices: tuple[editors.Choice, ...]
    chains: tuple[Chain, ...]
    salt_hash: str | None = None  # of the salt that chose the audits, if there is one

    @property
    def prices(self) -> dict[str, float | None]:
        return {choice.label: editors.trait(choice.editor, "price")() for choice in self.choices}


def _unpriced(plan: Plan) -> dict[str, str]:
    hosted = {choice.label: editors.trait(choice.editor, "hosted")() for choice in plan.choices}
    unknown = [label for label, price in plan.prices.items() if price is None]
    return {label: hosted[label].no_price() if hosted[label] else "its file gives none" for label in unknown}


def _select(
    seed: str,
    chains: Iterable[Chain],
    programs: Sequence[str] = (),
    categories: Sequence[str] = (),
    kinds: Sequence[str] = (),
    sources: Sequence[str] = (),
    limit: int | None = None,
) -> list[Chain]:
    if limit is not None and limit < 1:
        raise UserError(f"--limit must be a whole number from 1, got {limit}")
    selected = list(chains)
    for option, wanted, value_of in (
        ("--program", programs, lambda chain: chain.program.id),
        ("--category", categories, lambda chain: chain.program.category),
        ("--kind", kinds, lambda chain: chain.source.kind),
        ("--source", sources, lambda chain: chain.source.id),
    ):
        values = {value_of(chain) for chain in selected}
        if unknown := [value for value in wanted if value not in values]:
            allowed = ", ".join(sorted(values))
            raise UserError(f"{option} {unknown[0]!r} is in none of the remaining cases; they have {allowed}")
        selected = [chain for chain in selected if not wanted or value_of(chain) in wanted]
    cases = set(_balanced(seed, selected, limit)) if limit else ()
    return [chain for chain in selected if not limit or case_of(chain) in cases]


def make_plan(
    suite: suites.Suite,
    specs: Sequence[str | editors.Choice] = (),
    rounds: int | None = None,
    runs: int | None = None,
    audit: bool = True,
    salt: bytes = b"",
    stacks: Sequence[str] = (),
    **selection: Any,
) -> Plan:
    """Plan a chain for every case, editor, stack of policies and run; `selection` is as in `_select`."""
    for name, number in (("rounds", rounds), ("runs", runs)):
        if number is not None and not 1 <= number <= 10_000:  # far above any study; a plan is held in memory
            raise UserError(f"--{name} must be a whole number from 1 to 10000, got {number}")
    choices: dict[str, editors.Choice] = {}
    chains: dict[str, Chain] = {}
    for spec in specs or suite.editors:
        base = editors.choose(spec) if isinstance(spec, str) else spec
        if base.label in choices:
            raise UserError(f"editor {base.label!r} is given twice; give each once")
        for variant, stack in itertools.product(suite.variants, stacks or [policies.NONE]):
            if (choice := editors.with_settings(base, variant.settings)) is None:
                continue
            choice = policies.under(choice, stack)
            choices[choice.label] = choice
            limits = rounds, runs or variant.runs, audit and suite.audit
            planned = _variant_chains(suite, variant, choice, *limits, salt)
            chains |= {chain.id: chain for chain in planned}
    chosen = _select(suite.name, chains.values(), **selection)
    return Plan(suite, tuple(choices.values()), tuple(chosen), audits.salt_hash(salt) if salt else None)


def _variant_chains(
    suite: suites.Suite,
    variant: suites.Suite,
    choice: editors.Choice,
    rounds: int | None,
    runs: int,
    audit: bool,
    salt: bytes,
) -> Iterator[Chain]:
    settings = {**choice.settings, "short_side": suite.short_side}
    may_audit = audit and is_audited(choice.editor)
    for source, suite_program in suites.cases(suite, variant):
        if (program := policies.asked_for(choice.editor, suite_program)) is None:
            continue
        for run in range(1, runs + 1):
            chain = Chain(source, program, choice.label, settings, run, rounds or variant.rounds_of(program))
            yield audits.with_audit(chain, salt) if may_audit else chain


def is_audited(editor: object) -> bool:
    """Whether the editor could remember pictures, and is not given the history."""
    could_remember = not editors.trait(editor, "embedded") and not editors.trait(editor, "remembers")
    return bool(could_remember or editors.trait(editor, "audited"))


# --- what it would cost


def summary(plan: Plan) -> list[Json]:
    """Chains, calls, images, bytes and dollars of each editor; None for an unknown price."""
    rows = []
    for choice in plan.choices:
        chains = [chain for chain in plan.chains if chain.editor == choice.label]
        sizes = editors.trait(choice.editor, "sizes")()
        price = plan.prices[choice.label]
        calls = sum(chain.calls for chain in chains)
        pixels = 0
        for chain in chains:
            size = prepared_size((chain.source.width, chain.source.height), plan.suite.short_side, sizes)
            pixels += (chain.calls + 1) * math.prod(size)
        dollars = None if price is None else round(calls * price, 2)
        row = {"editor": choice.label, "chains": len(chains), "calls": calls, "images": calls + len(chains)}
        rows.append(row | {"bytes": round(pixels * _BYTES_PER_PIXEL), "dollars": dollars})
    return rows


def warnings(plan: Plan) -> list[str]:
    sentences, pictures = [], {chain.source.id for chain in plan.chains}
    if plan.suite.own_pictures and not plan.suite.draw and len(pictures) < _FEWEST_PICTURES:
        advice = f"give at least {_FEWEST_PICTURES}"
        sentences.append(f"retained quality needs other pictures to compare with; {advice}")
    for program in plan.suite.own_programs.values():
        if program.reason.startswith(reversibility.UNSURE):
            classes = ", ".join(REVERSIBILITY)
            sentences.append(f"program {program.id!r} is {program.reason}; its reversibility may be {classes}")
    for choice in plan.choices:
        model = editors.trait(choice.editor, "hosted")()
        if model and (warning := model.warning()):
            sentences.append(f"{choice.label}: {warning}")
    return sentences + [f"{label}: {why}" for label, why in _unpriced(plan).items()]


def check_max_cost(plan: Plan, max_cost: float) -> None:
    """Raise UserError unless it is an amount of money and all prices are known."""
    if not (math.isfinite(max_cost) and max_cost >= 0):
        raise UserError(f"--max-cost must be a number of US dollars from 0, got {max_cost}")
    for label, why in _unpriced(plan).items():
        raise UserError(f"--max-cost needs the price of a call of {label!r}: {why}")


def what_fits(plan: Plan, max_cost: float) -> tuple[int, int, float]:
    """How many cases the money pays for, in the order of --limit; of how many; and what they cost."""
    check_max_cost(plan, max_cost)
    prices = plan.prices
    costs: dict[Case, float] = defaultdict(float)
    for chain in plan.chains:
        costs[case_of(chain)] += chain.calls * (prices[chain.editor] or 0.0)
    in_order = _balanced(plan.suite.name, plan.chains, len(costs))
    spent = list(itertools.accumulate((costs[case] for case in in_order), initial=0.0))
    count = sum(dollars <= max_cost + 1e-9 for dollars in spent) - 1
    return count, len(costs), round(spent[count], 4)


# --- a balanced selection of cases


def case_of(chain: Chain) -> Case:
    return chain.source.id, chain.program.id


def _balanced(seed: str, chains: Iterable[Chain], limit: int) -> list[Case]:
    """`limit` cases, each the one whose traits were taken least so far, then by hash: a larger limit only adds."""
    traits = {  # what is balanced, most important first
        case_of(chain): tuple(
            enumerate((chain.program.category, chain.source.kind, chain.source.id, chain.program.id))
        )
        for chain in chains
    }
    by_hash = sorted(traits, key=lambda case: hashlib.sha256("/".join((seed, *case)).encode()).hexdigest())
    taken: Counter[tuple[int, str]] = Counter()
    chosen: list[Case] = []
    # A heap, by how often their traits were taken; these counts may be out of date.
    waiting: list[tuple[tuple[int, ...], int]] = [((), place) for place in range(len(by_hash))]
    while waiting and len(chosen) < limit:
        counts, place = heapq.heappop(waiting)
        now = tuple(taken[trait] for trait in traits[by_hash[place]])
        if now != counts:
            heapq.heappush(waiting, (now, place))
            continue
        chosen.append(by_hash[place])
        taken.update(traits[by_hash[place]])
    return chosen
