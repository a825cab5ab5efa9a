"""The dataset's scores and floors, written from the results of every chain."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from convergebench.dataset_builder.dataset.rows import place_of
from convergebench.generation.records import Step

from ..retained.floors import retained_value
from ..scores import CHANGED_SIZE, Missing, Value, Values, reasons_json, signature_json
from ..specs import ScoreColumn, Spec
from .chains import DatasetChain, is_scored
from .floors import FloorTask, Medians
from .metrics import Part
from .results import Results, engine_signature


def _retained_values(values: Values, columns: Sequence[ScoreColumn], floors: Medians) -> Values:
    """Scaled so that 1 is an untouched picture and 0 an unrelated one."""
    row: Values = {}
    for column in columns:
        value, ceiling = values[column.name], column.ceiling or 0.0
        if isinstance(value, Missing):
            row[column.retained] = value
        elif floors.get(column.name, ceiling) == ceiling:
            row[column.retained] = Missing("no_floor")
        else:
            row[column.retained] = retained_value(cast(float, value), floors[column.name], ceiling)
    return row


def _changed_sizes(chain: DatasetChain) -> dict[int, Value]:
    changed: dict[int, Value] = {}
    before = chain.input and chain.input.step
    for number, placed in chain.steps.items():
        step = placed and placed.step
        if step is None or step.width is None or before is None or before.width is None:
            changed[number] = _why_unscored(step) or Missing("previous_missing")
        else:
            changed[number] = (step.width, step.height) != (before.width, before.height)
        before = step if step and step.width is not None else before
    return changed


def _why_unscored(step: Step | None) -> Missing | None:
    if step is None:
        return Missing("missing")
    return None if is_scored(step) else Missing(step.status, step.reason or "")


def chain_rows(
    chain: DatasetChain,
    results: Results,
    specs: Mapping[str, Spec],
    absent: Mapping[str, str],
    floors: Medians,
) -> Iterator[tuple[dict[str, Any], Values]]:
    """A chain's rows as they are written, each with its values."""
    done, program = chain.chain, chain.chain.program
    computed = {name: results.scores[done.id, name] for name in specs if (done.id, name) in results.scores}
    signature = {"engine": engine_signature(chain), **{name: part for name, (part, _) in computed.items()}}
    # Without a clean picture, metrics that compare with the reference say nothing: those with a ceiling.
    is_blind = program.category == "restoration" and chain.own_reference is None
    comparing = [column.name for spec in specs.values() for column in spec.columns if column.ceiling is not None]
    with_floors = [column for spec in specs.values() for column in spec.columns if column.floor]
    sizes = _changed_sizes(chain)
    for number, placed in chain.steps.items():
        values = _measured(placed and placed.step, number, specs, computed, absent)
        if is_blind:
            values |= {name: Missing("no_clean_picture") for name in comparing if not isinstance(values[name], Missing)}
        values |= _retained_values(values, with_floors, floors)
        values[CHANGED_SIZE] = sizes[number]
        row = {
            **place_of(done),
            "step": number,
            "round": (number - 1) // len(program.cycle) + 1,
            "position": (number - 1) % len(program.cycle) + 1,
            "status": placed.step.status if placed else "missing",
            "sha256": placed and placed.step.sha256,
            **{name: stored(value) for name, value in values.items()},
            "reasons": reasons_json(values),
            "signature": signature_json(signature),
        }
        yield row, values


def _measured(
    step: Step | None,
    number: int,
    specs: Mapping[str, Spec],
    computed: Mapping[str, tuple[Part, dict[int, Values]]],
    absent: Mapping[str, str],
) -> Values:
    unscored, values = _why_unscored(step), Values()
    for name, spec in specs.items():
        if unscored:
            values |= dict.fromkeys(spec.names, unscored)
        elif name in computed:
            values |= computed[name][1][number]
        else:
            reason = Missing("absent", absent[name]) if name in absent else Missing("not_asked", name)
            values |= dict.fromkeys(spec.names, reason)
    return values


def stored(value: Value) -> float | bool | str | None:
    """A value as the scores hold it."""
    if isinstance(value, Missing):
        return None
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


def floor_rows(tasks: Sequence[FloorTask], results: Results, specs: Mapping[str, Spec]) -> Iterator[dict[str, object]]:
    """Every unrelated pair's values."""
    for task in tasks:
        for other in task.unrelated:
            for name in specs:
                part, values = results.floors.get((task.key, name), ({}, {}))
                signature = signature_json({name: part, "pictures": task.key})
                pair = {"source": task.reference.source, "other": other.source, "short_side": task.short_side}
                for column, value in values.get(other.source, {}).items():
                    yield pair | {"metric": column, "value": value, "signature": signature}
