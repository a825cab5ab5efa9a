"""Lays the chains of a submission into a run, from which `convergebench build` makes a dataset beside other runs."""

from pathlib import Path

from convergebench.generation.files import disk_errors_explained, locked, write_whole
from convergebench.generation.records import UserError
from convergebench.generation.store import ChainWriter, keep_source, open_run

from ...dataset.reader import Reader


def unpack(folder: Path, run: Path) -> int:
    """Store every chain of a dataset of one suite as a run keeps it, byte for byte; how many were not there yet."""
    reader = Reader(folder)
    chains = reader.chains()
    about = {(chain.suite, chain.suite_version, chain.short_side) for chain in chains}
    if len(about) != 1:
        raise UserError(f"{folder} holds chains of {len(about)} suites; a run is of one")
    [(suite, version, short_side)] = about
    open_run(run, {"suite": suite, "suite_version": version, "short_side": short_side}, reader.editors())
    for row in reader.rows("sources"):
        keep_source(run, row["sha256"], row["image"]["bytes"])
    new = 0
    with disk_errors_explained(run), locked(run):
        for chain in chains:
            with ChainWriter.draft(run) as writer:
                if (reference := reader.reference(chain.id)) is not None:
                    write_whole(writer.folder / "reference.png", reference)
                for step in reader.steps_of(chain):
                    size = (step.width, step.height) if step.width and step.height else None
                    writer.append(step, reader.picture(chain.id, step.step) or b"", size)
                new += writer.finish_draft(chain.chain, chain.status)
    return new
