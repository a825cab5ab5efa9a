"""`convergebench metrics`: lists the metric modules, what each measures and needs."""

import importlib.metadata
import json
import re
from pathlib import Path

import click

from ._shared import json_option


@click.command("metrics")
@json_option
def metrics(as_json: bool) -> None:
    """List the metric modules with what each measures, and what is missing here for it.

    \b
    convergebench metrics
    """
    from convergebench import metric_modules

    rows = [about(path.parent) for path in sorted(Path(metric_modules.__path__[0]).glob("*/README.md"))]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.echo(f"{row['name']:16} {row['measures']}; {row['missing'] or 'ready'}")


def about(folder: Path) -> dict[str, str | None]:
    """What the card of one module says of it, and what is missing here."""
    card = (folder / "README.md").read_text()
    measures = re.search(r"^short_description: (.+)$", card, re.MULTILINE)
    return {"name": folder.name, "measures": measures.group(1) if measures else None, "missing": missing(folder)}


def missing(folder: Path) -> str | None:
    """What has to be installed or fetched before the module computes."""
    wanted = re.findall(r"^[\w-]+", (folder / "requirements.txt").read_text(), re.MULTILINE)
    absent = [name for name in wanted if not installed(name)]
    if absent:
        return f"needs pip install {' '.join(absent)}"
    if folder.name == "lpips":
        from convergebench.metric_modules.lpips import weights

        if not weights.path("alex").is_file():
            return "needs `convergebench weights lpips`"
    return None


def installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
