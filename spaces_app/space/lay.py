"""Lays the Space's folder: the app on top, and beside it what it imports, under the same names."""

import importlib.util
import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent.parent
TOP = ("app.py", "README.md", "requirements.txt")
LEFT = ("__pycache__", "*.pyc", "README.md", "requirements.txt", "app.py")


def lay(out: Path) -> Path:
    """Everything that the Space needs, in `out`; what an earlier laying left there is replaced."""
    out.mkdir(parents=True, exist_ok=True)
    for name in TOP:
        shutil.copyfile(HERE / name, out / name)
    shutil.rmtree(out / "convergebench", ignore_errors=True)
    shutil.copytree(HERE, out / "convergebench" / "spaces_app", ignore=shutil.ignore_patterns(*LEFT))
    for name in metrics():
        # Links are followed, so that each folder is complete.
        place = out / "convergebench" / "metric_modules" / name
        shutil.copytree(metric_folder(name), place, ignore=shutil.ignore_patterns(*LEFT))
    return out


def metric_folder(name: str) -> Path:
    """Where a metric's folder is installed, found without importing it."""
    spec = importlib.util.find_spec(f"convergebench.metric_modules.{name}")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the metric {name!r} is not installed, so the Space cannot be laid out")
    return Path(next(iter(spec.submodule_search_locations)))


def metrics() -> list[str]:
    """The metric folders that any file of this room imports."""
    found: set[str] = set()
    for path in HERE.rglob("*.py"):
        found |= set(re.findall(r"convergebench\.metric_modules\.(\w+)", path.read_text(encoding="utf-8")))
        imports = re.findall(r"from convergebench\.metric_modules import (.+)", path.read_text(encoding="utf-8"))
        found |= {name.strip() for line in imports for name in line.split(",")}
    return sorted(found)
