"""What the layouts of `convergebench import` share."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._shared import PATH, json_option, option_group

if TYPE_CHECKING:
    from convergebench.dataset_builder.importing.chains import Findings, Problem


chain_options = option_group(
    click.option("--out", type=PATH, help="The run's folder. Default: runs/EDITOR."),
    click.option(
        "--originals",
        type=PATH,
        help="Folder of the pictures that chains start from, NAME.png for source NAME, if editors were given "
        "different encodings.",
    ),
    click.option("--kind", help="What the sources show: face, object, scene, texture or text."),
    click.option("--origin", type=click.Choice(["real", "synthetic"]), default="real", show_default=True),
    click.option("--licence", default="unknown", show_default=True, help="Of the sources; publishing needs it."),
    click.option("--attribution", default="unknown", show_default=True, help="Of the sources."),
    json_option,
)


def store_findings(
    findings: "Findings",
    name: str,
    *,
    out: Path | None,
    originals: Path | None,
    origin: str,
    licence: str,
    attribution: str,
    as_json: bool,
    **unused: Any,
) -> None:
    """Store the chains of a layout; exit with status 1 if part of a case could not be imported."""
    from convergebench.dataset_builder.building.card import count_text
    from convergebench.dataset_builder.importing import chains as importing

    rights = {"origin": origin, "licence": licence, "attribution": attribution}
    run, imported = importing.import_into_run(findings, name, out, originals, rights)
    for problem in imported.problems:
        click.echo(f"{'note: ' * problem.is_note}{problem.where}: {problem.reason}", err=True)
    rows = {is_note: _rows_of(imported.problems, is_note) for is_note in (False, True)}
    problems, notes = rows.values()
    if as_json:
        counts = {"made": imported.written, "already": imported.already_there, "replaced": imported.replaced}
        click.echo(json.dumps(counts | {"problems": problems, "notes": notes}))
    else:
        text = f"{count_text(len(imported.written), 'chain')} imported, {len(imported.already_there)} were there before"
        if imported.replaced:
            text += f", {len(imported.replaced)} replaced because their instructions changed"
        listed = " (listed above)" if imported.problems else ""
        counted = f"{count_text(len(problems), 'problem')}, {count_text(len(notes), 'note')}"
        click.echo(f"{run}: {text}; {counted}{listed}")
    if problems:
        sys.exit(1)


def _rows_of(problems: "Sequence[Problem]", is_note: bool) -> list[dict[str, str]]:
    return [{"where": row.where, "reason": row.reason} for row in problems if row.is_note == is_note]
