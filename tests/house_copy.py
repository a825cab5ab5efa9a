"""A copy of the package into which a test drops something new, and the commands as they run there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).parent.parent
ROOMS = ("cli", "generation", "dataset_builder", "harness", "metric_modules", "spaces_app")
VERBS = """
import sys
from click.testing import CliRunner
from convergebench.cli.__main__ import main
for line in sys.argv[1:]:
    done = CliRunner().invoke(main, line.split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output
"""


class HouseCopy:
    """The rooms below `folder`/site/convergebench, and `folder`/work to run in."""

    def __init__(self, folder):
        self.site, self.work = folder / "site", folder / "work"
        self.work.mkdir(parents=True)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HOUSE / "package", self.site / "convergebench", ignore=ignore)
        for room in ROOMS:
            shutil.copytree(HOUSE / room, self.site / "convergebench" / room, ignore=ignore)
        shutil.copyfile(HOUSE / "dataset_card.md", self.site / "convergebench" / "dataset_card.md")

    def path(self, name):
        return self.site / "convergebench" / name

    def write(self, name, text):
        self.path(name).write_text(text, encoding="utf-8")

    def append(self, name, text):
        self.write(name, self.path(name).read_text(encoding="utf-8") + text)

    def python(self, *words):
        environment = {**os.environ, "PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def verbs(self, *lines):
        """Commands one after the other in one process, because every start of Python costs seconds."""
        self.python("-c", VERBS, *lines)
