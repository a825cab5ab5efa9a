import importlib
import importlib.metadata
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._shared import json_option, print_rows

if TYPE_CHECKING:
    from convergebench.metric_modules.specs import Spec


@click.command("metrics", short_help="Metrics, and what each still needs.")
@json_option
def command(as_json: bool) -> None:
    """List the metrics with what each measures, and what must still be installed for it.

    `convergebench score --metrics` takes these names, except metrics "from numbers", which are for
    `evaluate.load` alone. Optional ones are computed only if named, and no headline rests on them.

    \b
    convergebench list metrics
    """
    from convergebench.metric_modules.specs import specs

    rows = sorted((_describe(spec) for spec in specs().values()), key=lambda row: str(row["name"]))
    print_rows(rows, as_json, _text_of)


def _text_of(row: dict[str, str | bool | None]) -> str:
    from convergebench.bench import as_installed

    note = "from numbers; " if row["kind"] == "statistic" else "optional; " if row["optional"] else ""
    return f"{row['name']:16} {row['measures']}; {note}{as_installed(str(row['missing'] or 'ready'))}"


def _describe(spec: "Spec") -> dict[str, str | bool | None]:
    folder = Path(str(importlib.import_module(f"{spec.package}.spec").__file__)).parent
    card = (folder / "README.md").read_text() if (folder / "README.md").exists() else ""
    measures = re.search(r"^short_description: (.+)$", card, re.MULTILINE)
    return {
        "name": spec.name,
        "folder": spec.folder,
        "kind": spec.kind,
        "optional": spec.optional,
        "measures": measures.group(1) if measures else spec.title,
        "missing": _missing_packages(folder) or _missing_weights(spec),
    }


def _missing_packages(folder: Path) -> str | None:
    requirements = (folder / "requirements.txt").read_text() if (folder / "requirements.txt").exists() else ""
    wanted = re.findall(r"^[\w-]+", requirements, re.MULTILINE)
    absent = [name for name in wanted if not list(importlib.metadata.distributions(name=name))]
    return f"needs pip install {' '.join(absent)}" if absent else None


def _missing_weights(spec: "Spec") -> str | None:
    if not spec.needs:
        return None
    measure = importlib.import_module(f"{spec.package}.measure")
    kwargs = {"metric": spec.name} if spec.is_one_of_several else {}
    return measure.missing_weights(**kwargs) if hasattr(measure, "missing_weights") else None
