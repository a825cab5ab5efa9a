"""What a run would do: its chains, calls, expected images, bytes and dollars, before anything runs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import audits, editors, suites
from .prepare import prepared_size
from .records import Chain, Source, UserError
from .selection import Case, Selection, balanced, case_of

BYTES_A_PIXEL = 1.5  # what a PNG of a photograph takes; an expectation, not a promise
FEWEST_PICTURES = 3  # of one's own, for a floor that is more than one comparison
MOST_ROUNDS, MOST_RUNS = 10_000, 1_000  # beyond any study, and a plan is held in memory


@dataclass(frozen=True)
class Plan:
    """The chains of a suite by the chosen editors. The same words give the same chains on any machine."""

    suite: suites.Suite
    choices: tuple[editors.Choice, ...]
    chains: tuple[Chain, ...]
    salt_hash: str | None = None  # of the salt that chose the audits, where there is one

    @property
    def calls(self) -> int:
        return sum(map(call_count, self.chains))

    def choice(self, chain: Chain) -> editors.Choice:
        return next(choice for choice in self.choices if choice.label == chain.editor)


def make_plan(
    suite: suites.Suite,
    specs: Sequence[str | editors.Choice] = (),
    rounds: int | None = None,
    runs: int | None = None,
    selection: Selection | None = None,
    audit: bool = True,
    salt: bytes = b"",
) -> Plan:
    """Every fitting source and program of the suite, by every editor, so many rounds, so many times.

    Without `audit` no chain is disturbed to find editors that remember the original.
    """
    for name, number, most in (("rounds", rounds, MOST_ROUNDS), ("runs", runs, MOST_RUNS)):
        if number is not None and not 1 <= number <= most:
            raise UserError(f"--{name} is {number}; it is a whole number from 1 to {most}")
    choices: dict[str, editors.Choice] = {}
    chains: dict[str, Chain] = {}
    for spec in specs or suite.editors:
        base = editors.choose(spec) if isinstance(spec, str) else spec
        if base.label in choices:
            raise UserError(f"editor {base.label!r} is given twice; give each once")
        for variant in suite.variants:
            choice = editors.with_settings(base, variant.settings)
            if choice is None:
                continue
            choices[choice.label] = choice
            draws = audit and suite.audit
            for chain in variant_chains(suite, variant, choice, rounds, runs or variant.runs, draws, salt):
                chains[chain.id] = chain
    chosen = selection.of(suite, chains.values()) if selection else chains.values()
    return Plan(suite, tuple(choices.values()), tuple(chosen), audits.salt_hash(salt) if salt else None)


def variant_chains(
    suite: suites.Suite,
    variant: suites.Variant,
    choice: editors.Choice,
    rounds: int | None,
    runs: int,
    audit: bool = True,
    salt: bytes = b"",
) -> Iterator[Chain]:
    """The chains of one editor under one variant, of its own rounds where none are given.

    Those of an editor that could remember may draw a recall audit; one that is handed the history need not.
    """
    settings = {**choice.settings, "short_side": suite.short_side}
    draws = audit and is_audited(choice.editor)
    for source, program in suites.cases(suite, variant):
        for run in range(1, runs + 1):
            chain = Chain(source, program, choice.label, settings, run, rounds or variant.rounds_of(program))
            yield audits.with_audit(chain, salt) if draws else chain


def is_audited(editor: object) -> bool:
    """Whether an editor's chains may draw a recall audit: it could remember, and is not handed the history."""
    outside = not editors.trait(editor, "embedded") and not editors.trait(editor, "remembers")
    return bool(outside or editors.trait(editor, "audited"))


def call_count(chain: Chain) -> int:
    return chain.rounds * len(chain.program.cycle)


def share(chains: Sequence[Chain], shard: int, shards: int) -> list[Chain]:
    """One process's part: the longest chains are dealt first, each to the part with the least to do so far."""
    loads = [0] * shards
    mine = []
    for chain in sorted(chains, key=lambda chain: (-call_count(chain), chain.id)):
        least = loads.index(min(loads))
        loads[least] += call_count(chain)
        if least == shard:
            mine.append(chain)
    return mine


def summary(plan: Plan) -> list[dict[str, Any]]:
    """A row per editor: chains, calls, images, bytes and dollars, the last null where no price is known."""
    rows: list[dict[str, Any]] = []
    for choice in plan.choices:
        mine = [chain for chain in plan.chains if chain.editor == choice.label]
        sizes, price = editors.trait(choice.editor, "sizes")(), editors.trait(choice.editor, "price")()
        count = sum(map(call_count, mine))
        area = sum(
            (call_count(chain) + 1) * prepared_pixels(chain.source, plan.suite.short_side, sizes) for chain in mine
        )
        rows.append(
            {
                "editor": choice.label,
                "chains": len(mine),
                "calls": count,
                "images": count + len(mine),
                "bytes": round(area * BYTES_A_PIXEL),
                "dollars": None if price is None else round(count * price, 2),
            }
        )
    return rows


def warnings(plan: Plan) -> list[str]:
    """What to know before money is spent: models that have ended or end soon, and those without a price."""
    found = {choice.label: editors.trait(choice.editor, "hosted")() for choice in plan.choices}
    hosted = {label: model for label, model in found.items() if model is not None}
    guessed = [f"{id} is a {own.source.kind}" for id, own in plan.suite.own_pictures.items() if own.guessed]
    own = [f"guessed: {', '.join(guessed)}; --pictures-kind or a folder's name says what pictures show"] * bool(guessed)
    if plan.suite.own_pictures and len({chain.source.id for chain in plan.chains}) < FEWEST_PICTURES:
        own.append(f"what a round retained is measured against other pictures; give at least {FEWEST_PICTURES} of them")
    ends = [f"{label}: {warning}" for label, model in hosted.items() if (warning := model.warning())]
    unpriced = [choice for choice in plan.choices if editors.trait(choice.editor, "price")() is None]
    return (
        own
        + ends
        + [f"{choice.label}: {hosted[choice.label].no_price()}" for choice in unpriced if choice.label in hosted]
    )


def unpriced(plan: Plan) -> list[str]:
    """The editors of which nobody knows what a call costs."""
    return [choice.label for choice in plan.choices if editors.trait(choice.editor, "price")() is None]


def what_fits(plan: Plan, max_cost: float) -> tuple[int, int, float]:
    """How many of the plan's cases fit an amount of money, in the order in which --limit takes them; of all; the cost.

    A case costs what all editors' chains of it do, each call once.
    """
    if not (math.isfinite(max_cost) and max_cost >= 0):
        raise UserError(f"--max-cost is {max_cost}; it is a number of US dollars from 0")
    if unknown := unpriced(plan):
        raise UserError(f"what fits ${max_cost:g} cannot be said: the price of a call of {unknown[0]!r} is not known")
    prices = {choice.label: editors.trait(choice.editor, "price")() for choice in plan.choices}
    costs: dict[Case, float] = {}
    for chain in plan.chains:
        costs[case_of(chain)] = costs.get(case_of(chain), 0.0) + call_count(chain) * prices[chain.editor]
    order = balanced(plan.suite.name, {case_of(chain): chain for chain in plan.chains}, len(costs))
    spent = 0.0
    for place, case in enumerate(order):
        if spent + costs[case] > max_cost + 1e-9:
            return place, len(order), round(spent, 4)
        spent += costs[case]
    return len(order), len(order), round(spent, 4)


def prepared_pixels(source: Source, short_side: int, sizes: tuple[tuple[int, int], ...]) -> int:
    width, height = prepared_size((source.width, source.height), short_side, sizes)
    return width * height
