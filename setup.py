"""What pyproject.toml cannot say: the dataset's card lies beside the rooms, in a checkout and in a wheel."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCard(build_py):
    """Also copies dataset_card.md, which stands at the top of the checkout, into the package."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("dataset_card.md", str(Path(self.build_lib) / "convergebench" / "dataset_card.md"))


setup(cmdclass={"build_py": BuildWithCard})
