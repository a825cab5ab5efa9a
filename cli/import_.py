"""`convergebench import`: stores chains that were made elsewhere."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._shared import json_option, parse_columns

if TYPE_CHECKING:
    from convergebench.dataset_builder.importing.chains import Findings
    from convergebench.dataset_builder.studies.restoration.layout_restored import Degraded


@click.command("import")
@click.argument("path")
@click.option(
    "--layout",
    required=True,
    type=click.Choice(["edit-converge-bench", "table", "dataset", "restored"]),
    help="A folder of cases; a CSV or JSONL of paths; a Hub or local dataset with picture columns; a folder of "
    "pictures that some method restored.",
)
@click.option("--editor", help="The editor's name; a table may name it in a column.")
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder. Default: runs/EDITOR.")
@click.option(
    "--prompts", type=click.Path(path_type=Path), help="edit-converge-bench: JSON with the instructions of each case."
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="table: the name of one of our columns in that table.",
)
@click.option("--source-column", default="image", show_default=True, help="dataset: the column of the source.")
@click.option("--turn", "turns", multiple=True, metavar="COLUMN", help="dataset: the picture column of each turn.")
@click.option("--words", multiple=True, metavar="COLUMN", help="dataset: the column of each turn's instruction.")
@click.option("--split", help="dataset: which split.")
@click.option("--config", help="dataset: which config.")
@click.option("--revision", help="dataset: which version.")
@click.option("--closes/--open", default=None, help="Whether a finished round should equal the source.")
@click.option(
    "--originals",
    type=click.Path(path_type=Path),
    help="Folder of the pictures that chains begin at, such as NAME.png for the source NAME: one step 0 for all "
    "editors that were given other encodings of it.",
)
@click.option("--suite", help="restored: the suite whose degraded pictures were restored; files bear their ids.")
@click.option("--inputs", type=click.Path(path_type=Path), help="restored: folder of the degraded pictures, by name.")
@click.option(
    "--clean",
    type=click.Path(path_type=Path),
    help="restored: folder of the clean pictures: A.png is that of A~blur.png.",
)
@click.option(
    "--about",
    "table_of_inputs",
    type=click.Path(path_type=Path),
    help="restored: a table of name, clean, scene and degradation.",
)
@click.option("--kind", help="Of the sources: face, object, scene, texture or text.")
@click.option("--origin", type=click.Choice(["real", "synthetic"]), default="real", show_default=True)
@click.option("--licence", default="unknown", show_default=True, help="Of the sources; it must be known to publish.")
@click.option("--attribution", default="unknown", show_default=True, help="Of the sources.")
@json_option
def import_(
    path: str,
    layout: str,
    editor: str | None,
    out: Path | None,
    prompts: Path | None,
    columns: tuple[str, ...],
    source_column: str,
    turns: tuple[str, ...],
    words: tuple[str, ...],
    split: str | None,
    config: str | None,
    revision: str | None,
    closes: bool | None,
    originals: Path | None,
    suite: str | None,
    inputs: Path | None,
    clean: Path | None,
    table_of_inputs: Path | None,
    kind: str | None,
    origin: str,
    licence: str,
    attribution: str,
    as_json: bool,
) -> None:
    """Import chains made elsewhere: their bytes stay as they are, and files that cannot be read are listed.

    Ends with 1 where a part of a case did not come in; files that belong to no case are listed only. Importing again
    with other words replaces the chains of the same answers.

    \b
    convergebench import chains/flux --layout edit-converge-bench --editor flux
    convergebench import answers.csv --layout table --column chain=case --column path=file --out runs/elsewhere
    convergebench import ORG/edits --layout dataset --editor NAME --turn turn_1_image --out runs/edits
    convergebench import restored/hypir --layout restored --editor HYPIR --suite restoration
    convergebench import restored/hypir --layout restored --editor HYPIR --inputs degraded --clean clean
    """
    from convergebench.dataset_builder.building.card_tables import count_text
    from convergebench.dataset_builder.importing import chains as importing
    from convergebench.dataset_builder.importing import layout_pairs, layout_table, layout_turns
    from convergebench.dataset_builder.studies.restoration import layout_restored
    from convergebench.generation.records import UserError

    if not editor and layout != "table":
        raise UserError(f"no --editor given; the layout {layout} does not say whose chains these are")
    findings: Findings
    if layout == "edit-converge-bench":
        findings = layout_pairs.find_chains(Path(path), str(editor), prompts, kind)
    elif layout == "table":
        findings = layout_table.find_chains(Path(path), editor, parse_columns(columns), kind, closes is not False)
    elif layout == "restored":
        degraded = degraded_of_suite(suite) if suite else None
        if degraded is None and inputs is None:
            raise UserError("no --inputs given; name the folder of the degraded pictures, or the suite they are from")
        degraded = degraded or layout_restored.find_inputs(inputs or Path(), clean, table_of_inputs)
        findings = layout_restored.find_chains(Path(path), str(editor), degraded, kind)
    else:
        if not turns:
            raise UserError("no --turn given; name the picture column of each turn, such as --turn turn_1_image")
        findings = layout_turns.find_chains(
            path, str(editor), source_column, turns, words, split, config, revision, kind, closes is True
        )
    out = out or Path("runs") / (editor or Path(path).stem).replace("/", "-")
    rights = importing.SourceRights(origin, licence, attribution)
    pictures = importing.find_originals(originals) if originals else None
    imported = importing.import_chains(findings, out, rights, pictures)
    for problem in imported.problems:
        click.echo(f"{problem.where}: {problem.reason}", err=True)
    if as_json:
        problems = [{"where": problem.where, "reason": problem.reason} for problem in imported.problems]
        about = {"made": imported.written, "already": imported.already_there, "replaced": imported.replaced}
        click.echo(json.dumps(about | {"problems": problems}))
    else:
        counts = (
            f"{count_text(len(imported.written), 'chain')} imported, {len(imported.already_there)} were there before"
        )
        if imported.replaced:
            counts += f", {len(imported.replaced)} replaced whose words were others"
        listed = " (listed above)" if imported.problems else ""
        click.echo(f"{out}: {counts}; {count_text(len(imported.problems), 'problem')}{listed}")
    if not all(problem.is_stray for problem in imported.problems):
        sys.exit(1)


def degraded_of_suite(name: str) -> "dict[str, Degraded]":
    """The degraded pictures of a suite by their ids, with their clean ones."""
    from convergebench.dataset_builder.studies.restoration.layout_restored import Degraded
    from convergebench.generation import suites
    from convergebench.generation.records import UserError
    from convergebench.generation.sources import catalogue

    suite = suites.load(name)
    sources = [suite.source(id) for id in suite.sources]
    found = {
        source.id: Degraded(
            suite.read(source.id),
            catalogue.read_reference(source.id),
            source,
            source.scene,
            source.degradation,
            suite.short_side,
        )
        for source in sources
        if source.reference
    }
    if not found:
        raise UserError(f"suite {name!r} has no degraded pictures; `restoration` has")
    return found
