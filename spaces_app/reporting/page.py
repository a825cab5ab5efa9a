"""The page: one file that needs nothing else, made of the tables and the drawings beside it."""

import html
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ..palette import dark_rules
from ..statistics import causes
from ..study.tables import Table, as_html, sentence
from .figures import Drawing
from .filmstrips import Frame, Strip

PUBLISHED = ("published", "published_pairs")
PART = {"round trips": "Round trips", "replication": "Replication", "restoration": "Restoration"}


def page(
    tables: Mapping[str, Table],
    drawings: Mapping[str, Sequence[Drawing]],
    strips: Sequence[Strip],
    sentences: Mapping[str, Sequence[str]],
    methods: str,
) -> str:
    """`drawings` by group of programs; `sentences` are what the page says at each part, taken from the tables."""
    groups = list(dict.fromkeys(row["group"] for row in tables["leaderboard"].rows))
    parts = [
        (group.replace(" ", "-"), PART[group], of_group(group, tables, drawings.get(group, ()), sentences))
        for group in groups
    ]
    parts += [
        ("worst", "Worst cases", filmstrips(strips, sentences["worst"]) if strips else ""),
        ("where", "Where editors fail first", where(tables)),
        ("sensitivity", "What the order depends on", drawn(drawings, "sensitivity") + shown(tables, "sensitivity")),
        ("audit", "The recall audit", shown(tables, "recall")),
        ("published", "Published scores", drawn(drawings, "published") + shown(tables, *PUBLISHED)),
        ("appendix", "Appendix: contraction and growth", drawn(drawings, "growth") + shown(tables, "growth")),
        ("methods", "Methods", paragraphs(methods) + folded(tables["facts"])),
    ]
    return document([part for part in parts if part[2]], sentences)


def document(parts: Sequence[tuple[str, str, str]], sentences: Mapping[str, Sequence[str]]) -> str:
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8") + dark_rules()
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in parts)
    body = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{text}</section>' for name, title, text in parts
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>ConvergeBench report</title>'
        # An empty icon, so that no browser asks for one.
        f'<link rel="icon" href="data:,"><style>{style}</style></head><body>'
        '<a class="skip" href="#main">Skip to the results</a>'
        "<header><h1>How long does an image editor survive being used again and again?</h1>"
        f'{said(sentences["lead"], "lead")}<nav aria-label="Parts"><ul>{links}</ul></nav></header>'
        f'<main id="main">{body}</main>'
        "<footer><p>Every number on this page is in the tables beside it, as CSV, JSON and LaTeX.</p></footer>"
        "</body></html>\n"
    )


def of_group(
    group: str, tables: Mapping[str, Table], drawings: Sequence[Drawing], sentences: Mapping[str, Sequence[str]]
) -> str:
    """The headline, what it leaves out, the figures and the comparisons of one group."""
    board = [row for row in tables["leaderboard"].rows if row["group"] == group]
    pairs = [row for row in tables["pairs"].rows if row["group"] == group]
    ends: dict[str, Any] = {row["editor"]: row for row in tables["causes"].rows if row["group"] == group}
    last = [ends[row["editor"]] for row in board if row["editor"] in ends]
    title = sentence(board[0]["name"])
    return "".join(
        [
            said(sentences[group]),
            as_html(tables["leaderboard"], title, board, "role"),
            *(figure(drawing) for drawing in drawings),
            "<h3>What ended convergence</h3>",
            as_html(tables["causes"], "Share of cases lost to each cause by the last round", last, "role"),
            "<h3>Who keeps more rounds than whom</h3>" if pairs else "",
            as_html(tables["pairs"], tables["pairs"].title, pairs, "family") if pairs else "",
        ]
    )


def where(tables: Mapping[str, Table]) -> str:
    """Variance, what is hardest, and the full breakdown folded away."""
    by = tables["breakdown"]
    folds = "".join(
        folded(by, f"Rounds kept by {name}", [row for row in by.rows if row["by"] == name])
        for name in causes.SLICES
        if any(row["by"] == name for row in by.rows)
    )
    return shown(tables, "variance", "hardest", "difficulty") + folds


def shown(tables: Mapping[str, Table], *names: str) -> str:
    """The tables with their notes, one part for each group of programs; without rows, the note alone."""
    found = []
    for table in [tables[name] for name in names if name in tables]:
        found.append(said([table.note] if table.note else []))
        for group in dict.fromkeys(row.get("group") for row in table.rows):
            title = table.title if group is None else f"{table.title}: {group}"
            found.append(as_html(table, title, [row for row in table.rows if row.get("group") == group]))
    return "".join(found)


def folded(table: Table, title: str = "", rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    title = title or table.title
    return f"<details><summary>{html.escape(title)}</summary>{as_html(table, title, rows)}</details>"


def drawn(drawings: Mapping[str, Sequence[Drawing]], name: str) -> str:
    return "".join(figure(drawing) for drawing in drawings.get(name, ()))


def figure(drawing: Drawing) -> str:
    title = html.escape(drawing.title)
    frame = f'<div class="scroll" tabindex="0" role="group" aria-label="{title} (figure)">'
    return f"<figure>{frame}{drawing.svg(alone=False)}</div><figcaption>{title}</figcaption></figure>"


def said(sentences: Sequence[str], kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return "".join(f"<p{mark}>{html.escape(sentence)}</p>" for sentence in sentences)


def paragraphs(text: str) -> str:
    return "".join(f"<p>{html.escape(part)}</p>" for part in text.split("\n\n") if part and not part.startswith("#"))


def filmstrips(strips: Sequence[Strip], sentences: Sequence[str]) -> str:
    """One strip per editor: its pictures as small images inside the page."""
    rows = []
    for strip in strips:
        title = html.escape(strip.title)
        rows.append(
            f'<div class="strip"><h3>{html.escape(strip.editor)}</h3><p class="note">{title}</p>'
            f'<div class="scroll" tabindex="0" role="group" aria-label="{title}">'
            f"<ol>{''.join(map(framed, strip.frames))}</ol></div></div>"
        )
    return said(sentences) + f'<div class="strips">{"".join(rows)}</div>'


def framed(frame: Frame) -> str:
    """One picture of a strip, or the words in its place."""
    words, label = html.escape(frame.words), html.escape(frame.label)
    if not frame.uri:
        return f'<li><span class="empty">{words}</span>{label}</li>'
    return f'<li><img src="{frame.uri}" alt="{words}" width="{frame.width}" height="{frame.height}">{label}</li>'
