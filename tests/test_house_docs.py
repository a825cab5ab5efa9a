"""What the documents say is so."""

import re
import tomllib
from pathlib import Path

from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.generation import editors
from convergebench.generation.programs import from_row
from verbs import verbs, written

HOUSE = Path(__file__).parent.parent
README = (HOUSE / "README.md").read_text()


def test_the_readme_lists_the_verbs_that_there_are():
    assert written() == verbs(), "run `python tests/verbs.py`"


def test_the_readme_opens_with_the_two_commands_and_a_picture():
    opening = README.split("## ")[0]
    assert opening.index("make demo") < opening.index("make test")
    assert re.search(r"!\[[^]]{20,}\]\(docs/[\w-]+\.(svg|png)\)", opening)


def test_every_picture_and_page_that_is_linked_is_there():
    for page in [*HOUSE.glob("*.md"), *HOUSE.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!http|#|mailto)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_the_editor_in_the_contributing_guide_works(tmp_path, monkeypatch):
    code = re.search(r"```python\n(.*?)```", (HOUSE / "CONTRIBUTING.md").read_text(), re.DOTALL).group(1)
    (tmp_path / "upside.py").write_text(code)
    monkeypatch.setattr(editors, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(editors, "__path__", [str(tmp_path)])
    choice = editors.make("upside:angle=90")
    from PIL import Image

    answer = choice.editor.edit(Image.new("RGB", (6, 4)), "anything", 1)
    assert answer.status == "ok"
    assert choice.settings["angle"] == 90
    assert editors.describe("upside")["about"] == "Turns its input upside down, whatever is asked."


def test_the_program_in_the_contributing_guide_is_one():
    text = re.search(r"```toml\n(.*?)```", (HOUSE / "CONTRIBUTING.md").read_text(), re.DOTALL).group(1)
    [row] = tomllib.loads(text)["program"]
    assert from_row(row).cycle == ("add a scarf", "remove the scarf")


def test_the_version_is_one_everywhere():
    version = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["version"]
    assert f"version: {version}" in (HOUSE / "CITATION.cff").read_text()
    assert version in CliRunner().invoke(main, ["--version"]).output


def test_no_document_or_code_names_a_secret_a_machine_or_a_tracker():
    words = re.compile(r"/work/|/root/|issue #?\d|file\.pythonhosted|sk-[A-Za-z0-9]{20}|hf_[A-Za-z0-9]{20}")
    for path in HOUSE.rglob("*"):
        hidden = any(part.startswith(".") and part != ".ci" for part in path.relative_to(HOUSE).parts)
        told = path.suffix in (".py", ".md", ".toml", ".txt", ".cff") or path.name in ("Makefile", "run")
        if path.is_file() and told and not hidden and path != Path(__file__):
            generated = path.relative_to(HOUSE).parts[0] in ("runs", "convergebench", "report", "build")
            assert generated or not words.search(path.read_text(errors="ignore")), path
