"""Asks for all additions of a round in one call, and for all removals in another."""

from dataclasses import replace

from ..records import Program


def program(program: Program) -> Program | None:
    """Only a program that goes out and back in several steps has something to merge."""
    half = len(program.cycle) // 2
    if not program.closes or half < 2 or len(program.cycle) % 2 or program.reversibility == "exact":
        return None
    cycle = tuple(" and ".join(words) for words in (program.cycle[:half], program.cycle[half:]))
    return replace(program, cycle=cycle)
