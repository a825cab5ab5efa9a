"""The rows of the dataset, made from chains as they are asked for."""

from collections.abc import Iterator, Mapping
from typing import Any

from convergebench.generation import store_reader
from convergebench.generation.records import canonical
from convergebench.generation.store_reader import StoredChain

Row = Mapping[str, Any]


def place(one: StoredChain) -> dict[str, Any]:
    chain = one.chain
    return {
        "chain": chain.id,
        "editor": chain.editor,
        "source": chain.source.id,
        "program": chain.program.id,
        "run": chain.run,
    }


def step_rows(one: StoredChain) -> Iterator[Row]:
    """A row per step, with the bytes as received."""
    for step in store_reader.read_steps(one):
        data = store_reader.read_picture(one, step)
        values = step.to_dict()
        values["details"] = canonical(values["details"])
        picture = None if data is None else {"bytes": data, "path": values.pop("file")}
        yield {"image": picture, **place(one), **values}


def chain_row(one: StoredChain) -> Row:
    chain, program, source = one.chain, one.chain.program, one.chain.source
    reference = store_reader.read_reference(one)
    short_side = chain.settings.get("short_side")
    return {
        "reference": None if reference is None else {"bytes": reference, "path": "reference.png"},
        **place(one),
        "rounds": chain.rounds,
        "steps": one.calls,
        "status": one.status,
        "kind": source.kind,
        "category": program.category,
        "cycle": canonical(program.cycle),
        "items": canonical(program.items),
        "closes": program.closes,
        "reversibility": program.reversibility,
        "small": program.small,
        "shows": program.shows,
        "short_side": int(short_side) if short_side is not None else None,
        "settings": canonical(dict(chain.settings)),
        "cost": one.cost,
        "suite": one.suite,
        "suite_version": one.suite_version,
        "source_sha256": source.sha256,
    }


def source_row(one: StoredChain) -> Row:
    values = one.source.to_dict()
    file, data = store_reader.read_source(one)
    return {"image": {"bytes": data, "path": file}, "source": values.pop("id"), **values}
