"""`convergebench metrics`: lists the metric modules, what each measures and needs."""

import importlib
import importlib.metadata
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._shared import json_option

if TYPE_CHECKING:
    from convergebench.metric_modules.specs import Spec


@click.command("metrics")
@json_option
def metrics(as_json: bool) -> None:
    """List the metrics with what each measures, and what is missing here for it.

    `convergebench score --metrics` takes these names, but for those that compute from numbers: they are for
    `evaluate.load` alone. Those that are computed only if asked for are optional, and no headline rests on them.

    \b
    convergebench metrics
    """
    from convergebench.metric_modules.specs import specs

    rows = sorted((about(spec) for spec in specs().values()), key=lambda row: str(row["name"]))
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        how = "from numbers; " if row["kind"] == "statistic" else "only if asked for; " if row["optional"] else ""
        click.echo(f"{row['name']:16} {row['measures']}; {how}{row['missing'] or 'ready'}")


def about(spec: "Spec") -> dict[str, str | bool | None]:
    """What the card of one metric says of it, or without a card its spec, and what is missing here."""
    from convergebench import metric_modules

    folder = Path(metric_modules.__path__[0]) / spec.folder
    card = (folder / "README.md").read_text() if (folder / "README.md").exists() else ""
    measures = re.search(r"^short_description: (.+)$", card, re.MULTILINE)
    return {
        "name": spec.name,
        "folder": spec.folder,
        "kind": spec.kind,
        "optional": spec.optional,
        "measures": measures.group(1) if measures else spec.title,
        "missing": missing(folder) or missing_weights(spec),
    }


def missing(folder: Path) -> str | None:
    """What has to be installed before the metric computes."""
    listed = (folder / "requirements.txt").read_text() if (folder / "requirements.txt").exists() else ""
    wanted = re.findall(r"^[\w-]+", listed, re.MULTILINE)
    absent = [name for name in wanted if not installed(name)]
    return f"needs pip install {' '.join(absent)}" if absent else None


def missing_weights(spec: "Spec") -> str | None:
    """What its `measure.py` says of weights that are not on this machine."""
    if not spec.needs:
        return None
    measure = importlib.import_module(f"convergebench.metric_modules.{spec.folder}.measure")
    which = {"metric": spec.name} if spec.is_one_of_several else {}
    return measure.missing_weights(**which) if hasattr(measure, "missing_weights") else None


def installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
