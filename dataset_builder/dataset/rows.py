"""Records from the dataset's rows: a source from `sources`, a finished chain from `chains`, a step from `steps`."""

import json
from collections.abc import Mapping
from typing import Any

from convergebench.generation.records import Chain, FinishedChain, Program, Source, Step

Row = Mapping[str, Any]


def source_from_row(row: Row) -> Source:
    """The starting picture that a row of `sources` describes."""
    return Source.from_dict({**row, "id": row["source"], "title": row.get("title") or ""})


def chain_from_row(row: Row, source: Source | None = None) -> FinishedChain:
    """The chain that a row of `chains` describes; without its source only what the row itself says of it is known."""
    if source is None:
        digest = row.get("source_sha256") or ""
        source = Source(row["source"], digest, 0, 0, row["kind"], "real", "unknown", "unknown")
    program = Program(
        id=row["program"],
        cycle=tuple(json.loads(row["cycle"])),
        category=row["category"],
        closes=row["closes"],
        reversibility=row["reversibility"],
        shows=row.get("shows") or "",
        items=tuple(json.loads(row.get("items") or "[]")),
        small=bool(row.get("small")),
    )
    settings = json.loads(row.get("settings") or "{}")
    return FinishedChain(
        id=row["chain"],
        chain=Chain(source, program, row["editor"], settings, row["run"], row["rounds"]),
        suite=row.get("suite") or "",
        suite_version=row.get("suite_version") or "",
        status=row["status"],
        calls=row["steps"],
        cost=row.get("cost"),
    )


def step_from_row(row: Row) -> Step:
    """The step that a row of `steps` describes; its file has the name that the chain store gave it."""
    about = {**row, "instruction": row.get("instruction") or "", "details": json.loads(row.get("details") or "{}")}
    return Step.from_dict(about | {"file": f"{row['step']:04d}.{row['type']}" if row.get("sha256") else None})
