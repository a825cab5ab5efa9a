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
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

MISSING = (
    "`convergebench weights",
    "pip install 'convergebench[",
    "are not in the cache",
    "could not be downloaded",
)


def example(card):
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


def page(folder):
    """Runs app.py as a Space does, its own folder first on the path, and measures what a visitor could give."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        demo = runpy.run_path(str(folder / "app.py"))["demo"]
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
    measure = demo.fns[0]
    arguments, *files = measure.inputs
    pictures = [str(folder.parent / f"{number}.png") for number in range(len(files))]
    for number, path in enumerate(pictures):
        values = np.random.default_rng(number).integers(0, 256, (240, 320, 3)).astype(np.uint8)
        Image.fromarray(values).save(path)
    try:
        headline, _ = measure.fn(arguments.value, *pictures)
    except gradio.Error as error:
        return "" if any(words in str(error) for words in MISSING) else str(error)
    return "" if re.search(r"\d|: (yes|no)\b", headline) and "None" not in headline else headline


def attempt(found, check, work, *given):
    """Notes what went wrong, or an empty line."""
    try:
        found[check] = work(*given)
    except (Exception, SystemExit):  # noqa: BLE001 - whatever it is, it is told, and the test fails
        found[check] = traceback.format_exc()


def main(place):
    report = {}
    os.chdir(place)
    os.environ["PIP_NO_INDEX"] = "1"  # nothing is fetched
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
