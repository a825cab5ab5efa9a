import json
from pathlib import Path

import click
from convergebench.generation.records import Values

from .._shared import PATH, json_option


@click.command("status", short_help="How far a run is.")
@click.argument("folder", type=PATH)
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Show how far a run is: chains done, running, refused and failed with reasons, and money.

    It works while processes are at work on the folder, and afterwards.

    \b
    convergebench status runs/demo
    convergebench status runs/v1 --json
    """
    from convergebench.generation.status import read_status

    run_status = read_status(folder)
    click.echo(json.dumps(run_status) if as_json else _as_text(str(folder), run_status))


def _as_text(folder: str, status: Values) -> str:
    whole = status["whole"]
    lines = [f"{folder}: suite {status['suite']} version {status['suite_version']}", f"  {_counts(whole)}"]
    lines.append(f"  {whole['calls_done']:,} of {whole['calls']:,} calls; ${whole['spent']:,.2f} spent")
    if whole["done"] < whole["chains"] and not whole["running"]:
        lines.append("  no process is working on it; run the same command again to resume")
    lines.append("")
    for name, part in status["editors"].items():
        lines.append(f"editor {name}: {_counts(part)}; ${part['spent']:,.2f}")
    for end, reasons in status["reasons"].items():
        lines += [f"\n{end}:", *(f"  {count:>6}  {reason}" for reason, count in reasons.items())]
    return "\n".join(lines)


def _counts(part: dict[str, float]) -> str:
    """'12 of 20 chains done (11 complete, 1 refused), 3 running, 5 waiting'."""
    from convergebench.generation.status import ENDS

    ends = ", ".join(f"{part[end]:,} {end}" for end in sorted(ENDS) if part[end])
    states = [f"{part[state]:,} {state}" for state in ("running", "interrupted", "waiting") if part[state]]
    done = f"{part['done']:,} of {part['chains']:,} chains done"
    return ", ".join([f"{done} ({ends})" if ends else done, *states])
