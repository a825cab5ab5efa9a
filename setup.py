"""What pyproject.toml cannot say: which folders are packages, and that the dataset's card goes into one."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOMS = ("cli", "dataset_builder", "generation", "harness", "metric_modules", "spaces_app")

# The package itself, and every folder of a room that holds code or data.
TOP = Path(__file__).parent
FILES = [path.relative_to(TOP) for room in ROOMS for path in TOP.glob(f"{room}/**/*") if path.is_file()]
FOLDERS = {path.parent for path in FILES if path.suffix != ".pyc" and "__pycache__" not in path.parts}
PACKAGES = ["convergebench", *sorted(".".join(("convergebench", *folder.parts)) for folder in FOLDERS)]


class BuildWithCard(build_py):
    """Also copies dataset_card.md from the top of the checkout into the package."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("dataset_card.md", str(Path(self.build_lib) / "convergebench" / "dataset_card.md"))


setup(packages=PACKAGES, cmdclass={"build_py": BuildWithCard})
