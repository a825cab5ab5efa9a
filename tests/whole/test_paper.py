"""The paper: what it shows is written by numbers.py from reports, and what it cites is in the list."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[2] / "paper"
TEXT = (PAPER / "paper.tex").read_text()
SPEC = importlib.util.spec_from_file_location("paper_numbers", PAPER / "numbers.py")
numbers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(numbers)


def limited(**values):
    return {key: value for name, value in values.items() for key in (name, f"{name}_low", f"{name}_high")}


@pytest.fixture
def reports(tmp_path):
    """Three reports with a row in each table that the paper shows."""
    row = {"editor": "paint", "role": "editors", "group": "round trips", "cause": "part lost (2 of 4)"}
    row |= limited(rounds_kept=1.25, survival=0.5, area=0.75)
    tables = {
        "leaderboard": [row],
        "breakdown": [{**row, "by": "category", "value": "accessories"}],
        "exact_edits": [{"editor": "solver", "what": "all", "part": "all", "elsewhere": 0.001, "steps": 16,
                         **limited(forward=1.0, back=0.5)}],
        "facts": [{"fact": fact, "value": 7} for fact in ("chains", "sources", "editors", "score rows")],
        "no_reference_ranks": [{"program": "replicate", "metric": "PIQE", "editor": "noise:sigma=2", "fooled": 1,
                                 "sources": 4, "gaps_above": 2, "gaps": 12, "largest": 3.25}],
        "restoration_methods": [{"editor": "paint", "psnr": 21.5, "ssim": 0.7, "lpips": None, "piqe": 40.0,
                                 "pictures": 35}],
    }  # fmt: skip
    (tmp_path / "figures").mkdir()
    for name in (*numbers.FIGURES, *numbers.BY_STEP):
        (tmp_path / "figures" / f"{name}.pdf").write_bytes(b"%PDF")
    (tmp_path / "tables.json").write_text(json.dumps({name: {"rows": rows} for name, rows in tables.items()}))
    return tmp_path


def test_everything_that_the_paper_shows_is_written_from_reports(reports, tmp_path):
    out = tmp_path / "out"
    numbers.main(reports, reports, reports, out)
    written = {path.name for path in out.iterdir()}
    inputs = set(re.findall(r"\\input\{(\w+)\}", TEXT))
    figures = set(re.findall(r"\\includegraphics\[[^\]]*\]\{([\w-]+)\}", TEXT))
    assert {f"{name}.tex" for name in inputs} | {f"{name}.pdf" for name in figures} <= written
    macros = set(re.findall(r"\\newcommand\{\\(\w+)\}", (out / "macros.tex").read_text()))
    assert macros
    assert {name for name in macros if f"\\{name}" not in TEXT} == set()
    assert "1.2 [1.2, 1.2] & 50 [50, 50]" in (out / "leaderboard.tex").read_text()
    assert "& 21.50 & 0.700 & -- & 40.0 & 35" in (out / "restoration.tex").read_text()
    assert r"noise:sigma=2 & 1 of 4 & 2 of 12 & +3.2" in (out / "fooled.tex").read_text()
    assert "FLUX.1 Kontext dev" in (out / "real.tex").read_text()
    assert numbers.tex("a_b & 50% of {x} > 1") == r"a\_b \& 50\% of \{x\} $>$ 1"


def test_a_number_that_is_missing_stops_the_paper(reports, tmp_path):
    tables = json.loads((reports / "tables.json").read_text())
    del tables["exact_edits"]
    (reports / "tables.json").write_text(json.dumps(tables))
    with pytest.raises(KeyError):
        numbers.main(reports, reports, reports, tmp_path / "out")


def test_every_citation_is_listed_and_every_entry_is_cited():
    cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", TEXT) for key in keys.split(",")}
    listed = re.findall(r"^@\w+\{(\w+),", (PAPER / "refs.bib").read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == cited
