"""A task as datatrove runs it. Imported only where datatrove is there: wherever its executors unpickle it."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from datatrove.pipeline.base import PipelineStep

from .cluster import using_cores


class Task(PipelineStep):
    """One part of so many of a verb's work."""

    type = "convergebench"

    def __init__(
        self,
        name: str,
        work: Callable[..., None],
        words: Mapping[str, Any],
        cores: int | None = None,
        carry: Any = None,
    ):
        self.name, self.work, self.words, self.cores, self.carry = name, work, words, cores, carry
        super().__init__()

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any:
        """Do the part; what was finished of it before is found by the work itself."""
        with using_cores(self.cores), self.carry.carried(rank) if self.carry else nullcontext({}) as places:
            self.work(rank, world_size, **{**self.words, **places})
        self.stat_update("tasks")
        return data
