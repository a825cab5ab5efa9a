"""Runs a Space's app as the Hub would: nothing can be imported but what its requirements.txt and its SDK bring.

python space_alone.py FOLDER
"""

import runpy
import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SDK = "gradio"


def brought_by(lines: list[str]) -> set[str]:
    """The distributions that these requirements install, with all that they ask for in turn."""
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in {"", *wanted.extras}:
            if (name, extra) in found:
                continue
            found.add((name, extra))
            try:
                asked = [Requirement(line) for line in distribution(name).requires or ()]
            except PackageNotFoundError:
                continue
            waiting += [each for each in asked if each.marker is None or each.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


class Only:
    """Finds modules as before, but for those of other distributions."""

    def __init__(self, brought: set[str]):
        self.finders = list(sys.meta_path)
        owners = packages_distributions()
        self.others = {
            name for name, of in owners.items() if not brought & {canonicalize_name(owner) for owner in of}
        } | {"convergebench"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.others:
            for finder in self.finders:
                if (spec := finder.find_spec(name, path, target)) is not None:
                    return spec
        return None

    def find_distributions(self, *context):
        for finder in self.finders:
            yield from finder.find_distributions(*context) if hasattr(finder, "find_distributions") else ()

    def invalidate_caches(self):
        for finder in self.finders:
            getattr(finder, "invalidate_caches", lambda: None)()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    wanted = [line for line in (folder / "requirements.txt").read_text().splitlines() if line.strip()]
    only = Only(brought_by([SDK, *wanted]))
    for name in [name for name in sys.modules if name.partition(".")[0] in only.others]:
        del sys.modules[name]
    sys.meta_path[:] = [only]
    sys.path[0] = str(folder)
    sys.argv = [str(folder / "app.py")]
    runpy.run_path(sys.argv[0], run_name="__main__")
