"""Makes the folder that is published as a Space: the app at the top, and the code that it imports."""

import json
import shutil
from pathlib import Path

_APP = Path(__file__).parent.parent
_ROOMS = _APP.parent  # in a checkout and in an installed package
_OTHER_ROOMS = ("generation", "dataset_builder", "metric_modules")
_TOP_FILES = ("app.py", "README.md", "requirements.txt")
_REPO = "convergebench/convergebench"  # of Space and dataset in the copied files


def copy_space_to(out: Path, repo: str = _REPO, dataset: str = _REPO, revision: str | None = None) -> Path:
    """Copy everything that the Space needs to `out`, replacing an earlier copy there.

    The copy shows this dataset at this revision, and its card names them and the Space's own repository.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name in _TOP_FILES:
        shutil.copyfile(_APP / name, out / name)
    package = out / "convergebench"
    shutil.rmtree(package, ignore_errors=True)
    unneeded = ("__pycache__", "*.pyc")
    shutil.copytree(_APP, package / _APP.name, ignore=shutil.ignore_patterns(*unneeded, *_TOP_FILES))
    for room in _OTHER_ROOMS:
        shutil.copytree(_ROOMS / room, package / room, ignore=shutil.ignore_patterns(*unneeded))
    # Without __init__.py an import would prefer an installed
    # `convergebench`, even one that comes later on the path.
    (package / "__init__.py").write_text('"""The rooms that this Space needs."""\n', encoding="utf-8")
    names = json.dumps({"dataset": dataset, "revision": revision})
    (package / _APP.name / "space" / "published.json").write_text(f"{names}\n", encoding="utf-8")
    # The card names this Space in its example, and its dataset everywhere else.
    parts = (out / "README.md").read_text(encoding="utf-8").split(f'Client("{_REPO}")')
    card = f'Client("{repo}")'.join(part.replace(_REPO, dataset) for part in parts)
    (out / "README.md").write_text(card, encoding="utf-8")
    return out
