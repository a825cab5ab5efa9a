"""The progress of a scoring in parts, which depend on the dataset's files alone."""

import re
from pathlib import Path

from .results import CHECKED, FOLDER

_CHAIN = re.compile(rb', "chain": "([^"]+)"')  # the chain's id in a shard's line, after the checksum
_FRESH = 600.0  # seconds; a part that finished something since then counts as working


def scored_so_far(dataset: Path, now: float) -> dict[str, float] | None:
    """Finished scores that are not in the files yet; nothing is locked.

    The number of chains, of parts into which the work was split, and of parts that finished something lately; and the
    seconds since anything was finished.
    """
    shards = {path: path.stat().st_mtime for path in sorted((dataset / FOLDER).glob("*.jsonl"))}
    if not shards:
        return None
    chains = set()
    for path in shards:
        with path.open("rb") as file:
            chains |= {match[1] for line in file if (match := _CHAIN.match(line, CHECKED - 2))}
    parts = max(int(path.stem.rpartition("-of-")[2]) for path in shards)
    working = sum(now - changed < _FRESH for changed in shards.values())
    quiet = max(0.0, now - max(shards.values()))
    return {"chains": len(chains), "parts": parts, "working": working, "quiet": quiet}
