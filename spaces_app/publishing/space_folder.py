"""Makes the folder that is published as a Space: the app at the top, and the packages that it imports."""

import json
import shutil
from pathlib import Path

_ROOM = Path(__file__).parent.parent
_HOUSE = _ROOM.parent  # the parent of all rooms, in a checkout and when installed
_OTHER_ROOMS = ("generation", "dataset_builder", "metric_modules")
_TOP = ("app.py", "README.md", "requirements.txt")
_OWN_REPO = "convergebench/convergebench"  # the Space's and the dataset's, as the files here have it


def copy_space_to(
    out: Path, repo: str = _OWN_REPO, dataset: str = _OWN_REPO, revision: str | None = None
) -> Path:
    """Everything that the Space needs, in `out`; an earlier copy there is replaced.

    The copy shows this dataset at this revision, and its card names them and the Space's own repository.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name in _TOP:
        shutil.copyfile(_ROOM / name, out / name)
    package = out / "convergebench"
    shutil.rmtree(package, ignore_errors=True)
    unneeded = ("__pycache__", "*.pyc")
    shutil.copytree(_ROOM, package / _ROOM.name, ignore=shutil.ignore_patterns(*unneeded, *_TOP))
    for room in _OTHER_ROOMS:
        shutil.copytree(_HOUSE / room, package / room, ignore=shutil.ignore_patterns(*unneeded))
    # A regular package comes before one of the same name
    # that is installed and that an import finds later.
    (package / "__init__.py").write_text('"""The rooms that this Space needs."""\n', encoding="utf-8")
    names = json.dumps({"dataset": dataset, "revision": revision})
    (package / _ROOM.name / "space" / "published.json").write_text(f"{names}\n", encoding="utf-8")
    # The card names this Space in its example, and its dataset everywhere else.
    parts = (out / "README.md").read_text(encoding="utf-8").split(f'Client("{_OWN_REPO}")')
    card = f'Client("{repo}")'.join(part.replace(_OWN_REPO, dataset) for part in parts)
    (out / "README.md").write_text(card, encoding="utf-8")
    return out
