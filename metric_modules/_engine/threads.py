"""One thread of arithmetic in each worker: results do not depend on the number of cores, and no core waits."""

import contextlib
import os
from collections.abc import Iterator


def count() -> int:
    """The cores that this process may keep busy, when the machine is shared with others of the same launch."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def single() -> None:
    """At the start of a worker: whatever it calls computes in this thread alone."""
    import cv2
    import torch

    torch.set_num_threads(1)
    cv2.setNumThreads(1)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """While workers run; afterwards libraries use as many threads as before."""
    import cv2
    import torch

    before = torch.get_num_threads(), cv2.getNumThreads()
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        cv2.setNumThreads(before[1])
