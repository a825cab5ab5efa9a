"""The page: one file, every number from the tables beside it, readable by all in light and dark."""

import base64
import io
import json
import re
import shutil
import subprocess
from html import unescape
from itertools import pairwise

import awkward_pictures
import pytest
from convergebench.spaces_app.analysis import tables
from convergebench.spaces_app.analysis.display_names import display_names
from convergebench.spaces_app.reporting.filmstrips import SIDE, Strip, make_frame
from convergebench.spaces_app.reporting.page import SHORT, in_words
from convergebench.spaces_app.reporting.write import write_files
from PIL import Image
from simulated import dataset, report

TINY = "data:image/webp;base64,UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQAA3AA/v3AgAA="
STRIPS = [Strip("one", "picture-01: refused in round 3", [
    {"label": "original", "words": "the original", "uri": TINY, "size": (1, 1), "is_loss": False},
    make_frame(None, "round 3", ""),
])]  # fmt: skip


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """A whole report of two editors and a baseline, and what it was made of."""
    out = tmp_path_factory.mktemp("report")
    editors = {"one": 1.5, "<b>two</b> & more": 1.0, "identity": 0.01}
    made = report(*dataset(editors, sources=13, programs=2, rounds=10, clip=False))
    write_files(made.tables, out, STRIPS)
    return out, made


@pytest.fixture(scope="module")
def html(laid):
    return (laid[0] / "index.html").read_text()


def plain(html):
    """What is read of a page or a part of it, without its figures and styles."""
    return unescape(re.sub(r"<(svg|style)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL))


def attributes(html, tag):
    return [dict(re.findall(r'([\w:-]+)="([^"]*)"', each)) for each in re.findall(rf"<{tag}\b([^>]*)>", html)]


def numbers(text):
    return re.findall(r"\d+(?:\.\d+)?", text)


def test_every_number_of_the_page_is_in_the_tables_beside_it(laid, html):
    told = set()
    for made in json.loads((laid[0] / "tables.json").read_text()).values():
        told |= {number for title in made["columns"].values() for number in numbers(title)}
        for value in [value for row in made["rows"] for value in row.values() if value is not None]:
            if isinstance(value, str):
                told |= set(numbers(value))
            else:
                forms = [form for form in tables.FORMS if form != "count" or isinstance(value, int)]
                told |= {number for form in forms for number in numbers(tables.format_value(value, form))}
    strips = {number for strip in STRIPS for number in numbers(strip.title + strip.frames[1]["label"])}
    descriptions = " ".join(re.findall(r"<desc\b[^>]*>(.*?)</desc>", html, re.DOTALL))
    shown = set(numbers(plain(html) + unescape(descriptions)))
    assert len(shown) > 80
    assert shown - told - strips == set()


def test_every_row_of_the_page_is_a_row_of_the_tables(laid, html):
    board = laid[1].tables["leaderboard"]
    names = display_names(row["editor"] for row in board.rows)
    known = set()
    for made in laid[1].tables.values():
        shown = made.shown()
        for columns in [shown, made.shown(SHORT)] if made is board else [shown]:
            known.add(tuple(names.get(column.key, column.title) for column in columns))
            for row in made.rows:
                cells = [(column.key, tables.format_cell(row, column)) for column in columns]
                known.add(tuple(in_words(*cell, names) for cell in cells))
    words = {tuple(" ".join(cell.split()) for cell in row) for row in known}
    rows = [
        re.findall(r"<t([dh])\b[^>]*>(.*?)</t\1>", row) for row in re.findall(r"<tr\b.*?</tr>", html, re.DOTALL)
    ]
    shown = [tuple(" ".join(plain(cell).split()) for _, cell in row) for row in rows]
    assert len(shown) > 50
    assert [row for row in shown if row not in words] == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX: apt-get install texlive-latex-base")
def test_every_table_compiles(laid, tmp_path):
    names = sorted(path.name for path in laid[0].glob("*.tex"))
    assert {"leaderboard-round-trips.tex", "tables.tex"} <= set(names)
    for name in names:
        (tmp_path / name).write_text((laid[0] / name).read_text())
    tables = "".join(rf"\resizebox{{\textwidth}}{{!}}{{\input{{{name}}}}}\par " for name in names)
    packages = r"\documentclass{article}\usepackage{booktabs}\usepackage{graphicx}"
    (tmp_path / "paper.tex").write_text(rf"{packages}\begin{{document}}{tables}\end{{document}}")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, [line for line in done.stdout.splitlines() if line.startswith("!")]


def test_the_page_asks_for_nothing_outside_itself(laid):
    text = (laid[0] / "index.html").read_text()
    links = re.findall(r'(?:src|href|srcset|action|data)="([^"]*)"|url\(([^)]*)\)|@import', text)
    asked = {link or other for link, other in links if not (link or other).startswith(("#", "data:"))}
    assert {name for name in asked if not (laid[0] / name).is_file()} == set()  # our own
    assert {"figures/survival.svg", "figures/survival.pdf", "figures/survival.png", "curves.csv"} <= asked
    assert "<script" not in text
    for path in (laid[0] / "figures").glob("*.svg"):
        assert re.findall(r'href="(?!#)', path.read_text()) == []


def test_structure_can_be_read_without_seeing(html):
    """What axe asks for where there is a browser (test_accessible.py)."""
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", html)]
    assert levels.count(1) == 1
    assert 'content="width=device-width' in html
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(attributes(html, "caption")) == len(attributes(html, "table"))
    assert all(each.get("scope") for each in attributes(html, "th"))
    assert all(each.get("alt") for each in attributes(html, "img"))
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert len(ids) == len({*ids})
    named = [name for figure in attributes(html, "svg") for name in figure["aria-labelledby"].split()]
    assert len(named) >= 5
    assert {*named, *re.findall(r'href="#([^"]*)"', html)} <= {*ids}


def test_names_stay_text_and_what_was_not_computed_is_said_and_not_drawn(laid, html):
    texts = [path.read_text() for path in (laid[0] / "index.html", *(laid[0] / "figures").glob("*.svg"))]
    assert not any("<b>" in text for text in texts)
    assert "&lt;b&gt;two&lt;/b&gt; &amp; more" in texts[0]
    text = " ".join(plain(html).split())
    assert "Left out, because fewer than half of the editors have it: meaning by CLIP" in text
    assert "meaning (CLIP)" not in (laid[0] / "figures" / "metrics.svg").read_text()
    assert "q needs the distance between consecutive returns" in text
    assert not (laid[0] / "figures" / "price.svg").exists()


def test_the_same_scores_give_the_same_files(laid, tmp_path):
    made = laid[1]
    write_files(made.tables, tmp_path, STRIPS)
    for path in sorted(laid[0].rglob("*.*")):
        assert path.read_bytes() == (tmp_path / path.relative_to(laid[0])).read_bytes(), path.name


@pytest.mark.parametrize("name", awkward_pictures.PICTURES)
def test_an_awkward_picture_looks_right_in_a_filmstrip(name):
    awkward = awkward_pictures.PICTURES[name]
    frame = make_frame(awkward.data, "round 1", "words")
    with Image.open(io.BytesIO(base64.b64decode(frame["uri"].partition(",")[2]))) as small:
        assert small.size == frame["size"]
        assert max(small.size) <= SIDE
        # WebP of low quality changes colours more than JPEG of high quality.
        awkward_pictures.assert_looks_right(small.convert("RGB"), awkward, tolerance=16)


@pytest.mark.parametrize("name", awkward_pictures.BROKEN)
def test_a_strip_says_why_there_is_no_picture(name):
    data, words = awkward_pictures.BROKEN[name]
    frame = make_frame(data, "round 1", "words")
    assert frame["uri"] == ""
    assert frame["words"].startswith("unreadable")
    assert words in frame["words"]
