"""The documents agree with the program."""

import csv
import json
import re
import runpy
import tomllib
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
from benchmarks.verdicts import labelled
from benchmarks.verdicts.__main__ import autoencoders_section, rounds_section, words_section
from convergebench.metric_modules._shared.looks import VISIBLE
from convergebench.metric_modules.edit_applied import judge
from convergebench.metric_modules.halflife.causes import COLOUR, PART
from convergebench.metric_modules.lpips import weights
from convergebench.spaces_app.statistics import find_statistics
from size import HOUSE, files_of
from verbs import invoke

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


def test_the_page_of_verdicts_names_the_limits_in_force():
    page = (HOUSE / "docs" / "verdicts.md").read_text()
    least = f"{judge.SHARE:.1%} of the picture changed by delta E {VISIBLE:g} ({judge.SHARE_SMALL:.1%} for"
    assert f"no connected area of {least}" in page
    assert f"more than {judge.LEFT:.0%} of the change remains" in page
    for band, unit in ((PART, ""), (COLOUR, "delta E ")):
        assert f"{unit}{band.limit:g} or more; undecided from {band.low:g} to {band.high:g}" in page


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


# The studies

STUDIES = (HOUSE / "docs" / "studies.md").read_text()
ROW = re.compile(r"\| (\d+) \| (.+) \| `([^`]+)` \| `([^`]+)` \| (works|partly: .+) \|")
PARTS = {part.partition("\n")[0]: ROW.findall(part) for part in STUDIES.split("\n## ")[1:]}
TARGETS = set(re.findall(r"^([a-z-]+):", (HOUSE / "Makefile").read_text(), re.MULTILINE))


def test_the_studies_items_are_counted_and_shown():
    counted = {title: [int(number) for number, *_ in rows] for title, rows in PARTS.items()}
    sizes = {"The design log": 63, "Banana100": 39, "Restoration": 22}
    assert counted == {title: list(range(1, size + 1)) for title, size in sizes.items()}
    works = [sum(state == "works" for *_, state in rows) for rows in PARTS.values()]
    totals = [(size, done, size - done) for size, done in zip(sizes.values(), works, strict=True)]
    assert re.findall(r"\| (\d+) \| (\d+) \| (\d+) \|\n", STUDIES) == [tuple(map(str, row)) for row in totals]
    items = [row for rows in PARTS.values() for row in rows]
    for command, file in sorted({(command, file) for _, _, command, file, _ in items}):
        if file.startswith("report/"):
            assert file.removeprefix("report/").removesuffix(".csv") in find_statistics()
        else:
            assert (HOUSE / file).is_file(), file
        verb, *words = command.split()
        if verb == "make":
            assert words[0] in TARGETS
            continue
        kind = words[:1] if verb in ("list", "publish", "sources") else []
        if "--layout" in words:
            kind = ["--layout", words[words.index("--layout") + 1]]
        told = invoke(verb, *kind, "--help")
        assert told.exit_code == 0, told.output
        for option in {*re.findall(r"--[a-z-]+", command)} - {"--layout"}:
            assert option in told.output, f"{verb} has no {option}"


# The results of real editors

RESULTS = runpy.run_path(str(HOUSE / "docs" / "results.py"))
PAGES = {name: (HOUSE / name).read_text() for name in ("docs/results.md", "README.md")}


def table(page, name):
    lines = PAGES[page].split(f"<!-- {name} -->\n")[1].split("\n<!-- end -->")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows[2:]}


def test_readme_and_page_say_the_same():
    assert table("README.md", "kept") == table("docs/results.md", "kept")
    short, long = table("README.md", "published"), table("docs/results.md", "ssim")
    assert short == {editor: [row[0], row[1], row[3], row[4]] for editor, row in long.items()}
    assert RESULTS["limits"]({"mean": 0.72, "mean_low": None, "mean_high": None}, "mean", ".2f") == "0.72"
    assert all("[" not in cell for cell in long["Seedream"]), "a range needs more than one picture"


@pytest.mark.skipif(not labelled.CHAINS.exists(), reason="the published answers are not beside the checkout")
def test_every_published_mean_is_that_of_the_rows():
    values, pictures = defaultdict(dict), defaultdict(set)
    with (labelled.CHAINS / "published_rounds.csv").open() as file:
        for row in csv.DictReader(file):
            key = row["model"], int(row["round"])
            values[key][row["image"], row["edit_pair"]] = float(row["ssim"]), float(row["psnr"])
            pictures[row["model"]].add(row["image"])
    names = {shown: name for name, shown in RESULTS["PUBLISHED"].items()}
    for place, (metric, digits) in enumerate((("ssim", 2), ("psnr", 1))):
        rows = table("docs/results.md", metric)
        assert set(rows) == set(names)
        for shown, cells in rows.items():
            cases = [values[names[shown], round] for round in RESULTS["SHOWN"]]
            # The mean over tests may weigh pictures or tests; both must be within the last digit of the page's.
            found = [mean(value[place] for value in case.values()) for case in cases]
            assert [float(cell.split()[0]) for cell in cells[:-1]] == pytest.approx(found, abs=0.6 * 10**-digits)
            assert cells[-1] == f"{len(cases[0])}, {len(pictures[names[shown]])}"


# Verdicts: one page and one card, both written by `make verdicts`


def test_the_card_has_the_table_of_the_page():
    card = (HOUSE / "metric_modules" / "edit_applied" / "README.md").read_text()
    table = card.split("<!-- verdicts -->\n")[1].split("<!-- end -->")[0].strip()
    assert table.count("\n") > 5
    page = (HOUSE / "docs" / "verdicts.md").read_text()
    assert table in next(part for part in page.split("\n## ") if part.startswith("Did something"))


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.skipif(not labelled.LABELS.is_dir(), reason="the labelled rounds are not beside the checkout")
@pytest.mark.skipif(not weights.weights_file("alex").is_file(), reason="the weights of LPIPS are not here")
@pytest.mark.parametrize("section", [rounds_section, autoencoders_section, words_section])
def test_the_numbers_of_the_labelled_rounds_come_out_again(section):
    page = (HOUSE / "docs" / "verdicts.md").read_text()
    assert section().strip() in page


# The paper: what it shows is written by numbers.py from reports and pages


def test_all_that_the_paper_shows_is_written_and_cited(tmp_path):
    paper = runpy.run_path(str(HOUSE / "paper" / "numbers.py"))
    text = (HOUSE / "paper" / "paper.tex").read_text()
    row = {"editor": "a_b", "role": "editors", "group": "round trips", "cause": "part lost (2 of 4)"}
    values = {"rounds_kept": 1.25, "survival": 0.5, "area": 0.75, "forward": 1.0, "back": 0.5}
    limited = {f"{name}{end}": value for name, value in values.items() for end in ("", "_low", "_high")}
    edits = {"editor": "solver", "what": "all", "part": "all", "elsewhere": 0.001, "steps": 16}
    copies = {"program": "replicate", "metric": "PIQE", "editor": "noise", "fooled": 1, "sources": 4}
    tables = {
        "leaderboard": [row | limited],
        "breakdown": [row | limited | {"by": "category", "value": "accessories"}],
        "exact_edits": [edits | limited],
        "facts": [{"fact": fact, "value": 7} for fact in ("chains", "sources", "editors", "score rows")],
        "no_reference_ranks": [copies | {"gaps_above": 2, "gaps": 12, "largest": 3.25}],
        "restoration_methods": [{"editor": "paint", "psnr": 21.5, "ssim": 0.7, "lpips": None, "pictures": 35}],
    }
    (tmp_path / "figures").mkdir()
    for name in (*paper["FIGURES"], *paper["BY_STEP"]):
        (tmp_path / "figures" / f"{name}.pdf").write_bytes(b"%PDF")
    (tmp_path / "tables.json").write_text(json.dumps({name: {"rows": rows} for name, rows in tables.items()}))
    paper["main"](tmp_path, tmp_path, tmp_path, out := tmp_path / "out")
    inputs = {f"{name}.tex" for name in re.findall(r"\\input\{(\w+)\}", text)}
    figures = {f"{name}.pdf" for name in re.findall(r"\\includegraphics\[[^\]]*\]\{([\w-]+)\}", text)}
    assert inputs | figures <= {path.name for path in out.iterdir()}
    macros = re.findall(r"\\newcommand\{(\\\w+)\}", (out / "macros.tex").read_text())
    assert [name for name in macros if name not in text] == []
    assert r"a\_b & editors & 1.2 [1.2, 1.2] & 50 [50, 50]" in (out / "leaderboard.tex").read_text()
    assert "& 21.50 & 0.700 & -- & --" in (out / "restoration.tex").read_text()
    cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", text) for key in keys.split(",")}
    assert cited == {*re.findall(r"^@\w+\{(\w+),", (HOUSE / "paper" / "refs.bib").read_text(), re.MULTILINE)}
