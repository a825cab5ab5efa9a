"""The rows of chains, sources, steps and editors, and the records that such rows make again."""

import json
from collections.abc import Mapping
from typing import Any

from convergebench.generation.records import Chain, EditorInfo, FinishedChain, Program, Source, Step, canonical

Row = Mapping[str, Any]


def chain_columns(chain: FinishedChain) -> dict[str, Any]:
    """The columns that name a chain, alike in several configs."""
    return {
        "chain": chain.id,
        "editor": chain.editor,
        "source": chain.source.id,
        "program": chain.program.id,
        "run": chain.run,
    }


def picture_value(data: bytes | None, path: str | None) -> dict[str, Any] | None:
    """A picture as a column of type image holds it."""
    return None if data is None else {"bytes": data, "path": path}


def step_row(chain: FinishedChain, step: Step, data: bytes | None) -> Row:
    """A step with the bytes as received."""
    values = step.to_dict()
    values["details"] = canonical(values["details"])
    return {"image": picture_value(data, values.pop("file")), **chain_columns(chain), **values}


def step_from_row(row: Row) -> Step:
    """The step of a row; its file has the name that the chain store gave it."""
    about = {**row, "instruction": row.get("instruction") or "", "details": json.loads(row.get("details") or "{}")}
    return Step.from_dict(about | {"file": f"{row['step']:04d}.{row['type']}" if row.get("sha256") else None})


def chain_row(chain: FinishedChain, reference: bytes | None) -> Row:
    """A chain, with its reference where that is another picture than its input."""
    program, settings = chain.program, chain.chain.settings
    return {
        "reference": picture_value(reference, "reference.png"),
        **chain_columns(chain),
        "rounds": chain.rounds,
        "steps": chain.calls,
        "status": chain.status,
        "kind": chain.source.kind,
        "category": program.category,
        "cycle": canonical(program.cycle),
        "items": canonical(program.items),
        "closes": program.closes,
        "reversibility": program.reversibility,
        "small": program.small,
        "shows": program.shows,
        "short_side": chain.short_side,
        "settings": canonical(dict(settings)),
        "cost": chain.cost,
        "suite": chain.suite,
        "suite_version": chain.suite_version,
        "source_sha256": chain.source.sha256,
    }


def chain_from_row(row: Row, source: Source | None = None) -> FinishedChain:
    """The chain of a row; without its source only what the row itself says of it is known."""
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


def source_row(source: Source, data: bytes, path: str) -> Row:
    """A starting picture with its own file."""
    values = source.to_dict()
    return {"image": picture_value(data, path), "source": values.pop("id"), **values}


def source_from_row(row: Row) -> Source:
    """The starting picture of a row."""
    return Source.from_dict({**row, "id": row["source"], "title": row.get("title") or ""})


def editor_row(label: str, editor: EditorInfo) -> Row:
    """An editor with its options."""
    return {"editor": label, **editor.to_dict()}


def editor_from_row(row: Row) -> EditorInfo:
    """The editor of a row."""
    return EditorInfo.from_dict(row)
