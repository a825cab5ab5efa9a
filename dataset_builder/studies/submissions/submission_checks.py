"""Checks that a submission is consistent: the hashes of files and chains, the order of steps, a score for each step.

The scoring engine checks the numbers by recomputing a sample; `generation` checks that the cases are the suite's.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from convergebench.generation.pictures import decode, fit_to
from convergebench.generation.records import PICTURED, FinishedChain, Step

from ...dataset.reader import Reader
from ...dataset.rows import SourceRow
from ...dataset.schema import hash_file
from ...publishing.verify import check_text, known_secrets, verify_dataset
from . import submission

_INPUT_ERROR = 1.0  # mean difference in grey levels; versions of a library resize differently
NEEDED = ("psnr", "ssim", "edit_applied")  # metrics without which there is no headline


def check(folder: Path) -> list[str]:
    """One sentence for each failure; the checks after a failed one are skipped."""
    description = submission.read(folder)
    for find in (_check_files, _check_dataset, _check_chains, _check_inputs, _check_scores):
        if sentences := list(find(folder, description)):
            return sentences
    return []


def _check_files(folder: Path, description: submission.Description) -> Iterator[str]:
    """Check that the files are exactly those that were submitted."""
    present = Reader(folder).data_files()
    for file in sorted(description["files"].keys() - {*present}):
        yield f"{file} was submitted and is missing"
    for file in present:
        if file not in description["files"]:
            yield f"{file} is not among the files that were submitted"
        elif hash_file(folder / file) != description["files"][file]:
            yield f"{file} is not the file that was submitted: its sha256 differs"
    check_text(submission.FILE, (folder / submission.FILE).read_text(encoding="utf-8"), known_secrets())


def _check_dataset(folder: Path, _: submission.Description) -> Iterator[str]:
    """Check values and pictures against their hashes, and that every reference between tables resolves."""
    yield from (f"{finding.path}: {finding.what}" for finding in verify_dataset(folder))


def _check_chains(folder: Path, description: submission.Description) -> Iterator[str]:
    """Check each chain against its id and its hash, and the order of its steps."""
    reader = Reader(folder)
    steps = defaultdict(list, submission.steps_by_chain(reader))
    for chain in reader.chains():
        if chain.id != chain.chain.id:
            yield f"chain {chain.id} is not what its id says: its words, settings or picture were changed"
        else:
            yield from _order_of_steps(chain, steps[chain.id])
    digests = {chain.id: submission.chain_digest(chain, steps[chain.id]) for chain in reader.chains()}
    for id in sorted(description["chains"].keys() | digests.keys()):
        if description["chains"].get(id) != digests.get(id):
            what = "is not the one" if id in digests and id in description["chains"] else "is not among those"
            yield f"chain {id} {what} that was submitted: its hash differs"


def _order_of_steps(chain: FinishedChain, steps: list[Step]) -> Iterator[str]:
    """Check that the steps are those that the chain asks for, in order, with its seeds and up to its end."""
    expected = [(0, 0, 0, "", None), *((*ask, chain.chain.seed(ask[0])) for ask in chain.chain.asks())]
    if "content" in chain.chain.settings:
        yield f"chain {chain.id} was imported, so how it was made cannot be checked"
        return
    for number, (step, ask) in enumerate(zip(steps, expected, strict=False)):
        if (step.step, step.round, step.position, step.instruction) != ask[:4]:
            yield f"chain {chain.id} has step {step.step}, round {step.round}, in the place of step {number}"
        elif number and step.seed != ask[4]:
            seeded_step = next((ask[0] for ask in expected[1:] if ask[4] == step.seed), None)
            owner = f"that of step {seeded_step}" if seeded_step else "not this chain's"
            yield f"chain {chain.id}, step {number}: its seed is {owner}, so it was not made in this place"
        elif number and steps[number - 1].status not in ("input", "ok"):
            yield f"chain {chain.id} goes on after it ended in step {number - 1}"
        elif (step.status in PICTURED) != (step.sha256 is not None):
            yield f"chain {chain.id}, step {number}: it is {step.status}, which its picture contradicts"
        else:
            continue
        return
    last = steps[-1].status if steps else "missing"
    ended = "complete" if last in ("input", "ok") else last
    if len(steps) > len(expected) or (last == "ok" and len(steps) < len(expected)) or ended != chain.status:
        yield f"chain {chain.id} has {len(steps) - 1} steps of {len(expected) - 1} and is called {chain.status}"


def _check_inputs(folder: Path, _: submission.Description) -> Iterator[str]:
    """Check that each chain begins with its source, resized; an easier picture would not be a case of the suite."""
    reader = Reader(folder)
    places = dict(zip((row.source for row in reader.rows_of(SourceRow)), reader.places("sources"), strict=True))
    source_of = {chain.id: chain.source.id for chain in reader.chains()}
    seen: set[tuple[str, str | None]] = set()
    for placed in reader.all_steps():
        source = source_of[placed.chain]
        if placed.step.step or (source, placed.step.sha256) in seen:
            continue
        seen.add((source, placed.step.sha256))
        original, first = (decode(reader.picture_at(place) or b"") for place in (places[source], placed.place))
        prepared = np.asarray(fit_to(original, first.size), np.int16)
        if float(np.abs(prepared - np.asarray(first, np.int16)).mean()) > _INPUT_ERROR:
            yield f"chain {placed.chain} does not begin with its source {source}: its first picture is another"
            return


def _check_scores(folder: Path, description: submission.Description) -> Iterator[str]:
    """Check that each step has scores for its own picture, with the metrics that a headline needs."""
    reader = Reader(folder)
    if not reader.files("scores"):
        yield "there are no scores; `convergebench score` computes them"
        return
    columns = ["chain", "step", "sha256", "status", "signature"]
    scored = {(row["chain"], row["step"]): row for row in reader.rows("scores", columns)}
    for placed in reader.all_steps():
        step, where = placed.step, f"chain {placed.chain}, step {placed.step.step},"
        if not step.step:
            continue
        row = scored.pop((placed.chain, step.step), None)
        if row is None or (row["sha256"], row["status"]) != (step.sha256, step.status):
            yield f"{where} {'has no row of scores' if row is None else 'has scores of another picture or status'}"
            return
        signature = json.loads(row["signature"])
        if signature not in description["signatures"]:
            yield f"{where} was scored under a signature that the submission does not name"
            return
        absent = [name for name in NEEDED if name not in signature]
        if absent and step.status == "ok":
            yield f"the scores lack {', '.join(absent)}; `convergebench score` computes them"
            return
    if scored:
        yield f"{len(scored)} rows of scores belong to no step"
