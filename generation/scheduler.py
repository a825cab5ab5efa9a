"""Runs a plan's chains, several at a time, until all are done or something stops the run."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from . import store
from .calls import Caller, Unusable, do_all
from .editors import Choice, alone, editor_info, trait
from .files import Locked
from .ledger import Budget
from .loop import Report, prepare_from, run_chain
from .plan import Plan, check_max_cost
from .records import Chain, Json, UserError
from .sources import catalogue


@dataclass
class Outcome:
    run: Path  # its folder
    ends: Counter[str] = field(default_factory=Counter)
    already: int = 0
    left: dict[str, str] = field(default_factory=dict)  # chain id to one sentence
    stopped: str | None = None
    spent: float = 0.0  # US dollars, by this call
    before: float = 0.0  # and in this run before it
    submitted: bool = False  # to an executor, whose tasks are still running
    abandoned: int = 0  # chains whose call was still in flight when the run was given up
    failed: dict[str, str] = field(default_factory=dict)  # editors without one answer, and the first reason

    @property
    def clean(self) -> bool:
        return self.stopped is None and not self.left and not self.failed


def generate(
    plan: Plan,
    chains: Sequence[Chain],
    run: Path,
    workers: int | None = None,
    max_cost: float | None = None,
    report: Report = lambda chain, step: None,
    retry: Collection[str] = (),
) -> Outcome:
    """Run the chains into the run's folder; calling it again with the same arguments resumes.

    `max_cost` limits the whole run, including earlier costs and those of other processes.
    Chains with an end in `retry` get another attempt. SIGTERM acts like Ctrl-C.
    """
    if max_cost is not None:
        check_max_cost(plan, max_cost)
    undone = {chain.editor for chain in chains if retry or not store.is_done(run, chain.id)}
    require_ready([choice for choice in plan.choices if choice.label in undone])
    waiting = _open(plan, chains, run, retry)
    is_paid = any(price != 0 for price in plan.prices.values())
    budget = Budget(max_cost, run, store.cost_so_far(run)) if is_paid else Budget(max_cost)
    outcome = Outcome(run, already=len(chains) - len(waiting), before=budget.spent)
    callers = {choice.label: make_caller(choice, budget) for choice in plan.choices}
    edits = {choice.label: choice.editor for choice in plan.choices}
    prepared = prepare_from(run, plan.choices)

    def take(chain: Chain) -> str:
        if outcome.stopped:
            raise CancelledError
        return run_chain(chain, edits[chain.editor], run, prepared, callers[chain.editor].ask, report)

    def stop(reason: str) -> None:
        outcome.stopped = outcome.stopped or reason
        for caller in callers.values():
            caller.stop()

    at_once = workers or _chains_at_once(plan.choices)
    try:
        outcome.abandoned = do_all(waiting, take, partial(_record, outcome, stop), stop, at_once)
    finally:
        outcome.spent = float(budget.paid)
    outcome.failed = editors_without_answer(run, chains)
    return outcome


def _record(outcome: Outcome, stop: Callable[[str], None], future: Future[str], chain: Chain) -> None:
    try:
        outcome.ends[future.result()] += 1
    except CancelledError:
        return
    except (Locked, store.Damaged) as error:
        outcome.left[chain.id] = str(error)
    except Unusable as error:
        stop(f"{chain.editor}: {error}")
    except UserError as error:
        stop(str(error))


def editors_without_answer(run: Path, chains: Sequence[Chain]) -> dict[str, str]:
    """The editors all of whose chains are done and ended without a picture or a refusal; and the first reason."""
    answered: set[str] = set()
    failed: dict[str, str] = {}
    for chain in chains:
        if chain.editor in answered:
            continue
        done = store.read_json(run / "chains" / chain.id / "done.json") if store.is_done(run, chain.id) else {}
        if done.get("status") in ("failed", "no_image") and done["steps"] == 1:
            failed.setdefault(chain.editor, str(done["reason"]))
        else:
            answered.add(chain.editor)
    return {label: reason for label, reason in failed.items() if label not in answered}


def _open(plan: Plan, chains: Sequence[Chain], run: Path, retry: Collection[str]) -> list[Chain]:
    suite = plan.suite
    description: Json = {**suite.header}
    if isolated := {choice.label: kept for choice in plan.choices if (kept := trait(choice.editor, "isolation"))}:
        description["isolation"] = isolated
    for choice in plan.choices:
        trait(alone(choice), "hide")(run)
    if plan.salt_hash is not None:
        description["salt_sha256"] = plan.salt_hash
    store.open_run(run, description, {choice.label: editor_info(choice) for choice in plan.choices}, plan.chains)
    waiting = [
        chain for chain in chains if not store.is_done(run, chain.id) or store.reopen(run, chain.id, retry)
    ]
    for source in {chain.source.id: chain.source for chain in waiting}.values():
        store.keep_source(run, source.sha256, suite.read(source.id))
        if source.reference and (reference := catalogue.read_reference(source.id)):
            store.keep_source(run, source.reference, reference)
    return waiting


def make_caller(choice: Choice, budget: Budget) -> Caller:
    limits = {"concurrency": choice.concurrency, **choice.rates}
    return Caller(budget=budget, price=trait(choice.editor, "price")() or 0.0, **limits)


def _chains_at_once(choices: Sequence[Choice]) -> int:
    """Twice the calls in flight, because some chains wait for a retry."""
    remote = [choice for choice in choices if not trait(choice.editor, "embedded")]
    return max([8, *(2 * choice.concurrency for choice in remote)])


def require_ready(choices: Sequence[Choice]) -> None:
    for choice in choices:
        if lacking := trait(choice.editor, "ready")():
            raise UserError(f"{choice.label} cannot run here: {lacking}")
