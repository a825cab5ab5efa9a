"""`convergebench report`: the table, the figures and the methods paragraph of a scored dataset."""

import json
from pathlib import Path

import click


@click.command("report")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("report"), show_default=True, help="The report's folder."
)
@click.option("--threshold", type=float, default=0.5, show_default=True, help="What a return has to retain, 0 to 1.")
@click.option("--compare", nargs=2, metavar="A B", help="Print all that is known of these two editors instead.")
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON.")
def report(dataset: Path, out: Path, threshold: float, compare: tuple[str, str] | None, as_json: bool) -> None:
    """Write index.html, figures and tables of a scored dataset, and print the headline.

    \b
    convergebench report convergebench --out report
    convergebench report convergebench --compare gemini bfl
    """
    if compare:
        click.echo(pair(dataset, threshold, *compare, as_json))
        return
    made = run(dataset, out, threshold)
    told = {name: value for name, value in made.items() if name != "text"}
    click.echo(json.dumps(told) if as_json else made["text"])


def run(dataset: Path, out: Path, threshold: float = 0.5) -> dict[str, object]:
    """Write the report; `text` is the headline and where to find the rest."""
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.reporting import sentences, write
    from convergebench.spaces_app.statistics.leaderboard import HEADLINE
    from convergebench.spaces_app.statistics.report import Options
    from convergebench.spaces_app.statistics.table import as_text, sentence

    check(dataset, threshold)
    try:
        written = write.write(dataset, out, Options(threshold))
    except ValueError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}; choose another folder") from error
    tables = written.report.tables
    board = sentences.headline(tables, HEADLINE)
    return {
        "page": str(written.page),
        "files": written.files,
        "headline": board.title,
        "text": f"{sentence(board.title)}\n\n{as_text(board)}\n\n{written.files} files; open {written.page}",
        "rows": [{key: row.get(key) for key in board.keys} for row in board.rows],
    }


def check(dataset: Path, threshold: float) -> None:
    """Refuse in one sentence what no report can be made of."""
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.reporting import load

    if not 0 < threshold <= 1:
        raise UserError(f"--threshold is {threshold:g}; it lies above 0 and at most at 1")
    if not load.files(dataset, "chains"):
        raise UserError(f"{dataset} is no dataset: there is no data/chains; `convergebench build` makes one")
    if not load.files(dataset, "scores") and not load.files(dataset, "published"):
        raise UserError(f"{dataset} has no scores yet; `convergebench score {dataset}` adds them")


def pair(dataset: Path, threshold: float, first: str, second: str, as_json: bool) -> str:
    """One pair of editors in full."""
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.reporting import load
    from convergebench.spaces_app.statistics.report import Options
    from convergebench.spaces_app.statistics.versus import versus

    check(dataset, threshold)
    try:
        scores, chains, floors = (load.rows(dataset, name) for name in ("scores", "chains", "floors"))
        told = versus(scores, chains, floors, first, second, Options(threshold))
    except ValueError as error:
        raise UserError(str(error)) from error
    return json.dumps(told.values) if as_json else told.text
