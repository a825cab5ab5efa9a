"""What the calls of each chain took and cost on average, found without reading a single picture."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .footers import Steps

COLUMNS = ["chain", "round", "status", "latency", "cost"]
Calls = dict[str, dict[str, Any]]  # by chain, one mean call each, as `cases.follow` reads calls


def of_steps(steps: Steps, files: Iterable[str]) -> Calls:
    """Means over the answered calls of every chain; a file that cannot be read tells nothing."""
    found: Calls = {}
    for file in files:
        try:
            with steps.opened(file) as opened:
                calls = opened.read(columns=COLUMNS)
        except (pa.ArrowException, OSError):
            continue  # its chains say so themselves when somebody looks at them
        answered = calls.filter(pc.and_(pc.equal(calls["status"], "ok"), pc.greater(calls["round"], 0)))
        means = answered.group_by("chain").aggregate([("latency", "mean"), ("cost", "mean")])
        columns = [means[name].to_pylist() for name in ("chain", "latency_mean", "cost_mean")]
        found |= {chain: call(chain, *spent) for chain, *spent in zip(*columns, strict=True)}
    return found


def of_chains(chains: Iterable[Mapping[str, Any]]) -> Calls:
    """The same from the small tables alone, which know what a chain cost and not how long it took."""
    found: Calls = {}
    for row in chains:
        answered = row["steps"] - (row["status"] != "complete")  # the call that ended a chain is no answer
        if row.get("cost") is not None and answered > 0:
            found[row["chain"]] = call(row["chain"], None, row["cost"] / answered)
    return found


def call(chain: str, latency: float | None, cost: float | None) -> dict[str, Any]:
    return {"chain": chain, "round": 1, "status": "ok", "latency": latency, "cost": cost}
