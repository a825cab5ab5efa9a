"""Several processes of one launch: which of them this one is, and what only the first of them does."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from .records import UserError

T = TypeVar("T")


def rank_and_size() -> tuple[int, int]:
    """This process's rank and the number of processes that accelerate launched.

    Refuses to start where each process would believe that it is alone: every step would be paid for several times.
    """
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if expected == 1:
        return 0, 1
    try:
        import torch
        from accelerate import PartialState
    except ModuleNotFoundError as error:
        raise UserError(
            f"{expected} processes were launched, and {error.name} is not installed, without which they cannot meet: "
            "pip install 'convergebench[score]'"
        ) from error
    try:
        # A process may wait for the others for as long as their share of the work takes.
        state = PartialState(cpu=not torch.accelerator.is_available(), timeout=timedelta(days=30))
    except ValueError as error:
        raise UserError(f"{expected} processes were launched but cannot meet: {error}") from error
    if state.num_processes != expected:
        raise UserError(
            f"{expected} processes were launched but each sees {state.num_processes}; "
            "on a machine without accelerators launch with --multi_gpu, not with --cpu"
        )
    return state.process_index, state.num_processes


def part(shard: str | None) -> tuple[int, int]:
    """Which part of how many this process runs: I/N, times the processes that were launched."""
    rank, size = rank_and_size()
    if shard is None:
        return rank, size
    index, count = parse_shard(shard)
    return index * size + rank, count * size


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_shard(shard: str) -> tuple[int, int]:
    """I/N as two numbers."""
    index, slash, count = shard.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise UserError(f"--shard is {shard!r}; it is I/N with I from 0 to N - 1, such as 0/4")
    return int(index), int(count)


def machines() -> int:
    """On how many machines the launched processes run."""
    return max(1, rank_and_size()[1] // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def wait_for_all() -> None:
    """Wait until all processes of a launch have come this far."""
    if rank_and_size()[1] > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def by_the_first(work: Callable[[], T]) -> T:
    """What `work` gives, done by the first process when all have come this far, and told to the others."""
    rank, size = rank_and_size()
    if size == 1:
        return work()
    from accelerate.utils import broadcast_object_list

    wait_for_all()
    told: list[object] = [None, None]
    if rank == 0:
        try:
            told[0] = work()
        except Exception as error:
            told[1] = error
            broadcast_object_list(told)
            raise
    broadcast_object_list(told)
    if isinstance(told[1], Exception):
        raise told[1]
    return told[0]  # type: ignore[return-value]
