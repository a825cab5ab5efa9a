"""`convergebench status`: how a run is doing, or the building and scoring of a dataset, from its folder alone."""

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import json_option

if TYPE_CHECKING:
    from convergebench.generation.status import Status


@click.command("status", short_help="How far a run or a dataset is.")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Show how far a run is: chains done, running, refused and failed with reasons, money, time left.

    For a dataset it shows what is built and scored. It works while processes are at work on the folder, and afterwards.

    \b
    convergebench status runs/demo
    convergebench status runs/v1 --json
    convergebench status convergebench
    """
    from convergebench.generation.status import read_status

    if not (folder / "run.json").exists() and any((folder / name).is_dir() for name in ("data", ".building")):
        values = _dataset_status(folder)
        click.echo(json.dumps(values) if as_json else _dataset_text(values))
        return
    run_status = read_status(folder)
    click.echo(json.dumps(vars(run_status)) if as_json else _as_text(str(folder), run_status))


def _dataset_status(folder: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq
    from convergebench.dataset_builder.building.build import DRAFT
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.metric_modules._engine.parts import scored_so_far

    reader = Reader(folder)
    rows = {
        config: sum(pq.read_metadata(folder / file).num_rows for file in reader.files(config))
        for config in ("chains", "steps", "scores")
    }
    draft = folder / DRAFT
    return {
        "dataset": str(folder),
        "chains": rows["chains"],
        "answers": rows["steps"] - rows["chains"],  # every chain has its input as step 0
        "scored": rows["scores"],
        "building": len(list(draft.rglob("*.parquet.json"))) if draft.is_dir() else None,
        "scoring": scored_so_far(folder, time.time()),
    }


def _dataset_text(values: dict[str, Any]) -> str:
    from convergebench.dataset_builder.building.card import count_text

    lines = [f"{values['dataset']}: {count_text(values['chains'], 'chain')}; scores of {values['scored']:,} of "]
    lines[0] += count_text(values["answers"], "answer")
    if values["building"] is not None:
        lines.append(f"  being built: {count_text(values['building'], 'file')} written, but not in place yet")
    if scoring := values["scoring"]:
        lines += [
            f"  being scored: {count_text(scoring['chains'], 'chain')} finished, but not in the dataset's files yet",
            f"  {scoring['working']:,} of {count_text(scoring['parts'], 'part')} finished something in the last ten "
            f"minutes, the last of them {timedelta(seconds=round(scoring['quiet']))} ago",
        ]
    return "\n".join(lines)


def _as_text(folder: str, status: "Status") -> str:
    whole = status.whole
    lines = [f"{folder}: suite {status.suite} version {status.suite_version}", f"  {_counts(whole)}"]
    pace = "" if status.calls_a_second is None else f"; {status.calls_a_second:.2g} calls a second"
    left = "" if not status.seconds_left else f", {timedelta(seconds=round(status.seconds_left))} left"
    lines.append(f"  {whole['calls_done']:,} of {whole['calls']:,} calls; ${whole['spent']:,.2f} spent{pace}{left}")
    if whole["done"] < whole["chains"] and not whole["running"]:
        lines.append("  no process is working on it; run the same command again to resume")
    lines += ["", *(f"editor {name}: {_counts(part)}; ${part['spent']:,.2f}" for name, part in status.editors.items())]
    for end, reasons in status.reasons.items():
        lines += [f"\n{end}:", *(f"  {count:>6}  {reason}" for reason, count in reasons.items())]
    return "\n".join(lines)


def _counts(part: dict[str, float]) -> str:
    """'12 of 20 chains done (11 complete, 1 refused), 3 running, 5 waiting'."""
    from convergebench.generation.status import ENDS

    ends = ", ".join(f"{part[end]:,} {end}" for end in sorted(ENDS) if part[end])
    states = [f"{part[state]:,} {state}" for state in ("running", "interrupted", "waiting") if part[state]]
    return ", ".join([f"{part['done']:,} of {part['chains']:,} chains done{f' ({ends})' if ends else ''}", *states])
