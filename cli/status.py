"""`convergebench status`: how a run is doing, from its folder alone."""

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._shared import json_option

if TYPE_CHECKING:
    from convergebench.generation.status import Progress, Status


@click.command("status")
@click.argument("run", type=click.Path(path_type=Path))
@json_option
def status(run: Path, as_json: bool) -> None:
    """Say how far a run is: done, running, refused and failed with reasons, spent, time left, slowest, by shard.

    Works while the run is going on, in any number of processes, and afterwards. The events themselves are lines of
    JSON in RUN/log/.

    \b
    convergebench status runs/demo
    convergebench status runs/v1 --json
    """
    from convergebench.generation.status import read_status

    found = read_status(run)
    click.echo(json.dumps(found.to_dict()) if as_json else as_text(found))


def as_text(found: "Status") -> str:
    """One screen."""
    whole = found.whole
    lines = [f"{found.run}: suite {found.suite} version {found.suite_version}", f"  {counts(whole)}"]
    pace = "" if found.calls_a_second is None else f"; {found.calls_a_second:.2g} calls a second"
    left = "" if not found.seconds_left else f", {timedelta(seconds=round(found.seconds_left))} left"
    lines.append(f"  {whole.calls_done:,} of {whole.calls:,} calls; ${whole.spent:,.2f} spent{pace}{left}")
    for title, parts in (("editor", found.editors), ("shard", found.shards if len(found.shards) > 1 else {})):
        lines += [f"\n{title} {name}: {counts(part)}; ${part.spent:,.2f}" for name, part in parts.items()]
    if found.shards_unseen:
        lines.append(f"\n{found.shards_unseen} shards have not been started")
    for end, reasons in found.reasons.items():
        lines += [f"\n{end}:", *(f"  {count:>6}  {reason}" for reason, count in reasons.items())]
    if found.slowest:
        lines += ["\nslowest, seconds a call:"]
        lines += [f"  {each['seconds_a_call']:>8.2f}  {each['editor']} {each['chain']}" for each in found.slowest]
    if found.quiet:
        lines += ["\nrunning, seconds since the last answer:"]
        lines += [f"  {each['seconds']:>8.1f}  {each['editor']} {each['chain']}" for each in found.quiet]
    return "\n".join(lines)


def counts(part: "Progress") -> str:
    """'12 of 20 chains done (11 complete, 1 refused), 3 running, 5 not begun'."""
    ends = ", ".join(f"{count:,} {end}" for end, count in sorted(part.ends.items()))
    words = [f"{part.done:,} of {part.chains:,} chains done{f' ({ends})' if ends else ''}"]
    for count, state in ((part.running, "running"), (part.interrupted, "interrupted"), (part.waiting, "not begun")):
        words += [f"{count:,} {state}"] if count else []
    return ", ".join(words)
