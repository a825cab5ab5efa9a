import json
from pathlib import Path

import click

from ..._shared import PATH, dataset_option, json_option


@click.command("labels", short_help="What people said of pictures.")
@click.argument("files", nargs=-1, required=True, type=PATH)
@dataset_option
@json_option
def command(files: tuple[Path, ...], dataset: Path, as_json: bool) -> None:
    """Add files of labels (JSON as the Space saves it, CSV or JSONL) to the dataset's config `labels`.

    If a person labelled a picture twice, the later answer counts.
    Labels of pictures that are not in the dataset are left out.

    \b
    convergebench import anna.json ben.json --layout labels \\
      --dataset convergebench
    """
    from convergebench.dataset_builder.studies.labels.label_files import import_labels

    done = import_labels(files, dataset)
    words = (
        "{file}: {labels} labels, {new} of them new and {changed} changed; {strangers} of pictures that are not in "
        "this dataset were left out"
    )
    click.echo(json.dumps(done) if as_json else words.format(**done))
