"""`convergebench report`: tables, figures and a page of a scored dataset."""

import json
from pathlib import Path

import click

from ._shared import json_option


@click.command("report", short_help="Write tables, figures and a page.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("report"), show_default=True, help="The report's folder."
)
@click.option(
    "--threshold", type=float, default=0.5, show_default=True, help="Retained quality below which a round is lost."
)
@click.option(
    "--framing", type=float, help="Shift or zoom above which a round is lost. Default: framing is not checked."
)
@click.option("--compare", nargs=2, metavar="A B", help="Print a comparison of these two editors instead.")
@json_option
def command(
    dataset: Path, out: Path, threshold: float, framing: float | None, compare: tuple[str, str] | None, as_json: bool
) -> None:
    """Write index.html, figures and tables of a scored dataset, and print the headline.

    \b
    convergebench report convergebench --out report
    convergebench report convergebench --compare gemini bfl
    """
    if compare:
        click.echo(_compare(dataset, threshold, *compare, as_json))
        return
    import convergebench as cb
    from convergebench.generation import suites

    programs = {name: suites.load(name).programs for name in suites.names()}
    board = cb.report(dataset, out, threshold=threshold, framing=framing, suites=programs)
    values = {"page": str(board.page), "files": board.files, "headline": board.title, "chains": board.chains}
    click.echo(json.dumps(values | {"rows": board.rows}) if as_json else board)


def _compare(dataset: Path, threshold: float, first: str, second: str, as_json: bool) -> str:
    """The comparison of two editors, as text or as JSON."""
    from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.analysis.analysis import Options
    from convergebench.spaces_app.reporting import two_editors
    from convergebench.spaces_app.reporting.board import check_dataset
    from convergebench.spaces_app.reporting.write import read_analysis

    check_dataset(dataset, threshold)
    try:
        analysis = read_analysis(Reader(dataset), Options(threshold), steps=False)
        comparison = two_editors.compare_pair(analysis, first, second)
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    return json.dumps(comparison.values) if as_json else comparison.text
