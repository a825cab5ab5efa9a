"""`convergebench labels`: adds what people said of a dataset's pictures, and writes it out again."""

import json
from pathlib import Path

import click

from ._shared import json_option

DATASET = click.option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=Path("convergebench"),
    show_default=True,
    help="The dataset's folder.",
)


@click.group("labels")
def labels() -> None:
    """Add what people said of pictures to a dataset, or write it out.

    The Space's tab Labels asks, and saves the answers as a file of yours; it writes nothing itself.

    \b
    convergebench labels add anna.json ben.json --dataset convergebench
    convergebench labels save --dataset convergebench --out labels.json
    """


@labels.command("add")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@DATASET
@json_option
def add(files: tuple[Path, ...], dataset: Path, as_json: bool) -> None:
    """Add files of labels (JSON as the Space saves it, CSV or JSONL) to the dataset's config `labels`.

    Of one person and picture the latest answer counts; labels of other pictures than the dataset's are left out.

    \b
    convergebench labels add anna.json ben.json
    """
    from convergebench.dataset_builder.studies.labels.label_files import import_labels

    done = import_labels(files, dataset)
    about = {"labels": done.labels, "new": done.new, "changed": done.changed, "strangers": done.strangers}
    if as_json:
        click.echo(json.dumps({"file": str(done.file), **about}))
        return
    click.echo(
        f"{done.file}: {done.labels} labels, {done.new} of them new and {done.changed} changed; {done.strangers} of "
        "pictures that are not in this dataset were left out"
    )


@labels.command("save")
@DATASET
@click.option("--out", type=click.Path(path_type=Path), default=Path("labels.json"), show_default=True)
@json_option
def save(dataset: Path, out: Path, as_json: bool) -> None:
    """Write the dataset's labels into one file, as the Space saves and loads them.

    \b
    convergebench labels save --out labels.json
    """
    from convergebench.dataset_builder.studies.labels.label_files import export_labels

    count = export_labels(dataset, out)
    click.echo(json.dumps({"file": str(out), "labels": count}) if as_json else f"{out}: {count} labels")
