"""The documents agree with the program."""

import re
import runpy
import tomllib
from pathlib import Path

from size import HOUSE, files_of

README = (HOUSE / "README.md").read_text()
WRITE = runpy.run_path(str(HOUSE / "docs" / "write.py"))


GENERATED = {"docs/commands.md": "commands", "docs/words.md": "glossary", "docs/api.md": "api"}
TABLES = {  # page, table, and what writes it
    ("docs/editors.md", "models"): "hosted_editors",
    ("docs/banana100.md", "no-reference"): "no_reference_metrics",
    ("docs/import.md", "columns"): "imported_columns",
    ("README.md", "costs"): "costs",
}


def test_what_is_generated_is_up_to_date():
    for page, write in GENERATED.items():
        assert (HOUSE / page).read_text() == WRITE[write](), "run `python docs/write.py`"
    for (page, table), write in TABLES.items():
        text = (HOUSE / page).read_text()
        assert WRITE["put"](text, table, WRITE[write]()) == text, "run `python docs/write.py`"


def test_the_readme_is_short_and_its_picture_small():
    assert len(README.splitlines()) <= 170
    [picture] = re.findall(r"!\[[^]]{20,}\]\((docs/[\w-]+\.webp)\)", README.split("## ")[0])
    assert (HOUSE / picture).stat().st_size < 300_000


def test_every_picture_and_page_that_is_linked_is_there():
    for page in [*HOUSE.glob("*.md"), *HOUSE.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!http|#|mailto)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_the_version_is_one_everywhere():
    version = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["version"]
    assert f"version: {version}" in (HOUSE / "CITATION.cff").read_text()


def test_no_file_names_a_secret_a_machine_or_a_tracker():
    forbidden = re.compile(r"/work/|/root/|issue #?\d|file\.pythonhosted|sk-[A-Za-z0-9]{20}|hf_[A-Za-z0-9]{20}")
    for path in HOUSE.rglob("*"):
        hidden = any(part.startswith(".") and part != ".ci" for part in path.relative_to(HOUSE).parts)
        is_text = path.suffix in (".py", ".md", ".toml", ".txt", ".cff") or path.name in ("Makefile", "run")
        if path.is_file() and is_text and not hidden and path != Path(__file__):
            generated = path.relative_to(HOUSE).parts[0] in ("runs", "convergebench", "report", "build")
            assert generated or not forbidden.search(path.read_text(errors="ignore")), path


ARCHITECTURE = (HOUSE / "docs" / "architecture.md").read_text()
ROOMS = ("generation/", "dataset_builder/", "metric_modules/", "spaces_app/", "harness/", "cli/")
# Calls that only one file may contain, and that file.
ONE_FILE = {
    "Image.open(": "generation/pictures.py",
    "pq.ParquetFile(": "dataset_builder/dataset/reader.py",
    "pq.ParquetWriter(": "dataset_builder/dataset/schema.py",
    "filelock.FileLock(": "generation/files.py",
    "step_down(table)": "metric_modules/halflife/comparison.py",
}


def test_every_file_that_the_architecture_names_is_there():
    rooms = "generation|dataset_builder|metric_modules|spaces_app|cli|tests|docs"
    for name in re.findall(rf"`((?:{rooms})/[\w./-]*)`", ARCHITECTURE):
        path = name.replace("NAME", "psnr").replace("TAB", "chains")
        assert (HOUSE / path).exists(), name


def test_each_rule_has_one_owner_file():
    for call, file in ONE_FILE.items():
        assert f"`{file}`" in ARCHITECTURE
        files = [name for name in files_of(*ROOMS) if name.endswith(".py") and call in (HOUSE / name).read_text()]
        assert files == [file], call
