import json
from pathlib import Path

import click

from ..._shared import PATH, dataset_option, json_option


@click.command("labels", short_help="Write a dataset's labels into one file.")
@dataset_option
@click.option("--out", type=PATH, default="labels.json", show_default=True, help="The file.")
@json_option
def command(dataset: Path, out: Path, as_json: bool) -> None:
    """Write the dataset's labels into one file, as the Space saves them.

    \b
    convergebench list labels --dataset convergebench --out labels.json
    """
    from convergebench.dataset_builder.studies.labels.label_files import export_labels

    count = export_labels(dataset, out)
    click.echo(json.dumps({"file": str(out), "labels": count}) if as_json else f"{out}: {count} labels")
