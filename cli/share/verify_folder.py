import json
import sys
from pathlib import Path

import click

from .._shared import PATH, json_option


def recognises(args: list[str]) -> bool:
    """Accept any arguments: this is the fallback after the kinds that studies add, such as submissions."""
    return True


@click.command("folder", short_help="A run or a dataset.")
@click.argument("folder", type=PATH)
@click.option("--repair", is_flag=True, help="Move broken files aside; then repeat the command that wrote them.")
@json_option
def command(folder: Path, repair: bool, as_json: bool) -> None:
    """Check a run or a dataset; name everything that is broken, and what depends on it.

    \b
    convergebench verify runs/demo
    convergebench verify convergebench --repair
    """
    import convergebench as cb
    from convergebench.dataset_builder.publishing import verify as verifying

    findings = cb.verify(folder)
    moved = verifying.set_aside(folder, findings) if repair else []
    commands = "`convergebench generate`" if (folder / "chains").is_dir() else "`convergebench build` and `score`"
    if as_json:
        rows = [finding._asdict() for finding in findings]
        click.echo(json.dumps({"folder": str(folder), "findings": rows, "set_aside": moved}))
    else:
        for finding in findings:
            click.echo(f"broken: {finding.sentence}", err=True)
        for path in moved:
            click.echo(f"moved: {path} to {folder / verifying.SET_ASIDE}; run {commands} again to replace it")
        if not findings:
            click.echo(f"{folder}: nothing is broken")
    if findings:
        sys.exit(1)
