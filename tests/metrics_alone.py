"""Uses every metric folder as a stranger would, where convergebench cannot be imported, and prints what happened.

python metrics_alone.py PLACE: below it, in `convergebench/`, are the folders as `build` lays them beside a dataset.
"""

import contextlib
import io
import json
import os
import re
import runpy
import sys
import traceback
from pathlib import Path

sys.modules["convergebench"] = None

import evaluate  # noqa: E402 - after convergebench is out of reach
import gradio  # noqa: E402

MISSING = ("`convergebench weights", "pip install 'convergebench[", "are not in the cache")


def example(card: Path) -> str:
    """Runs a card's example: what it prints is in the comments beside."""
    for code in re.findall(r"```python\n(.*?)```", card.read_text(), re.DOTALL):
        told = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
        if not told and "\nassert " not in code:
            return "the example shows nothing that could fail"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(card), "exec"), {})  # noqa: S102 - our own card
        if printed.getvalue().splitlines() != told:
            return f"the card says {told}\nit prints {printed.getvalue().splitlines()}"
    return ""


def page(folder: Path) -> str:
    """Runs app.py as a Space does, its own folder first on the path, and builds the page."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        demo = runpy.run_path(str(folder / "app.py"))["demo"]
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
    if not isinstance(demo, gradio.Blocks):
        return f"demo is {type(demo).__name__}"
    measure, config = demo.fns[0], demo.get_config_file()
    if not config["components"]:
        return "the page is empty"
    values = [component.value for component in measure.inputs]
    if any(value is None for value in values):
        return ""  # pictures that a visitor brings
    headline, _ = measure.fn(*values)
    return "" if len(headline) > 10 and "None" not in headline else headline


def attempt(found: dict, check: str, work, *given) -> None:
    """Notes what went wrong, or an empty line."""
    try:
        found[check] = work(*given)
    except (Exception, SystemExit):  # noqa: BLE001 - whatever it is, it is told, and the test fails
        found[check] = traceback.format_exc()


def main(place: Path) -> None:
    report = {}
    os.chdir(place)
    for folder in sorted(path.parent for path in place.glob("convergebench/*/README.md")):
        found = report.setdefault(folder.name, {})
        attempt(found, "loads", lambda path: "" if evaluate.load(path).description else "none", str(folder))
        attempt(found, "example", example, folder / "README.md")
        if any(words in found["example"] for words in MISSING):
            found["example"] = "missing: " + re.search(r"\S*Error: (.*)", found["example"])[1]
        attempt(found, "page", page, folder)
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
