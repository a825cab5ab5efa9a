"""Work in parts: by --shard I/N, or by the processes of one launch. Nothing is scheduled here."""

import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

from .records import UserError

T = TypeVar("T")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(
    items: Iterable[T], weight: Callable[[T], int], name: Callable[[T], str], index: int, parts: int
) -> list[T]:
    """A part of the items: the heaviest go first, each to the part with the least so far."""
    loads: list[int] = [0] * parts
    members: list[T] = []
    for item in sorted(items, key=lambda item: (-weight(item), name(item))):
        least = loads.index(min(loads))
        loads[least] += weight(item)
        members += [item] if least == index else []
    return members


def part(shard: str | None) -> tuple[int, int]:
    rank, size = rank_and_size()
    index, slash, count = (shard or "0/1").partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise UserError(f"--shard must be I/N with I from 0 to N - 1, such as 0/4; got {shard!r}")
    return int(index) * size + rank, int(count) * size


# --- the processes of one launch


def rank_and_size() -> tuple[int, int]:
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if expected == 1:
        return 0, 1
    try:
        import torch
        from accelerate import PartialState
    except ModuleNotFoundError as error:
        raise UserError(f"launched processes need {error.name}: pip install 'convergebench[score]'") from error
    try:
        # A process waits for the others for as long as their share takes.
        state = PartialState(cpu=not torch.accelerator.is_available(), timeout=timedelta(days=30))
    except ValueError as error:
        raise UserError(f"{expected} processes were launched but cannot meet: {error}") from error
    if state.num_processes != expected:  # each would pay for every step
        raise UserError(
            f"{expected} processes were launched but each sees {state.num_processes}; "
            "on a machine without accelerators launch with --multi_gpu, not with --cpu"
        )
    return state.process_index, state.num_processes


def machines() -> int:
    return max(1, rank_and_size()[1] // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def wait_for_all() -> None:
    if rank_and_size()[1] > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def by_the_first(work: Callable[[], T]) -> T:
    """Run `work` in the first process; every process gets its result or error."""
    rank, size = rank_and_size()
    if size == 1:
        return work()
    from accelerate.utils import broadcast_object_list

    wait_for_all()
    shared: list[object] = [None, None]
    if rank == 0:
        try:
            shared[0] = work()
        except Exception as error:  # noqa: BLE001 - it is raised below, in every process
            shared[1] = error
    broadcast_object_list(shared)
    if isinstance(shared[1], Exception):
        raise shared[1]
    return shared[0]  # type: ignore[return-value]
