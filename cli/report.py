"""`convergebench report`: writes the tables, the figures and the methods paragraph of a scored dataset."""

import json
from pathlib import Path

import click

from ._shared import json_option


@click.command("report")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("report"), show_default=True, help="The report's folder."
)
@click.option(
    "--threshold", type=float, default=0.5, show_default=True, help="The retained quality below which a round is lost."
)
@click.option("--compare", nargs=2, metavar="A B", help="Print a comparison of these two editors instead.")
@json_option
def report(dataset: Path, out: Path, threshold: float, compare: tuple[str, str] | None, as_json: bool) -> None:
    """Write index.html, figures and tables of a scored dataset, and print the headline.

    \b
    convergebench report convergebench --out report
    convergebench report convergebench --compare gemini bfl
    """
    if compare:
        click.echo(compare_pair(dataset, threshold, *compare, as_json))
        return
    written = run(dataset, out, threshold)
    text = written.pop("text")
    click.echo(json.dumps(written) if as_json else text)


def run(dataset: Path, out: Path, threshold: float = 0.5) -> dict[str, object]:
    """Write the report; `text` is the headline and where to find the rest."""
    from convergebench.dataset_builder.dataset.reader import UnreadableFile
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.reporting.sentences import headline
    from convergebench.spaces_app.reporting.write import write_report
    from convergebench.spaces_app.statistics.leaderboard import HEADLINE
    from convergebench.spaces_app.study.study import Options
    from convergebench.spaces_app.study.tables import as_text, capitalised

    check_dataset(dataset, threshold)
    try:
        written = write_report(dataset, out, Options(threshold))
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}; choose another folder") from error
    tables = written.report.tables
    board = headline(tables, HEADLINE)
    return {
        "page": str(written.page),
        "files": written.files,
        "headline": board.title,
        "text": f"{capitalised(board.title)}\n\n{as_text(board)}\n\n{written.files} files; open {written.page}",
        "rows": [{key: row.get(key) for key in board.keys} for row in board.rows],
    }


def check_dataset(dataset: Path, threshold: float) -> None:
    """Refuse, in one sentence, a threshold out of range and a dataset without chains or scores."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.generation.records import UserError

    if not 0 < threshold <= 1:
        raise UserError(f"--threshold is {threshold:g}; it lies above 0 and at most at 1")
    reader = Reader(dataset)
    if not reader.files("chains"):
        raise UserError(f"{dataset} is no dataset: there is no data/chains; `convergebench build` makes one")
    if not reader.files("scores") and not reader.files("published"):
        raise UserError(f"{dataset} has no scores yet; `convergebench score {dataset}` adds them")


def compare_pair(dataset: Path, threshold: float, first: str, second: str, as_json: bool) -> str:
    """The comparison of two editors, as text or as JSON."""
    from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.reporting import two_editors
    from convergebench.spaces_app.reporting.write import read_study
    from convergebench.spaces_app.study.study import Options

    check_dataset(dataset, threshold)
    try:
        study = read_study(Reader(dataset), Options(threshold), steps=False)
        comparison = two_editors.compare_pair(study, first, second)
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    return json.dumps(comparison.values) if as_json else comparison.text
