"""The sentences of the page, all made from the tables."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.scores import Missing

from ..analysis.cases import COLUMNS, MEANINGS, QUALITIES
from ..analysis.display_names import display_names
from ..analysis.groups import CHECK_TITLES, CHECKS, ROLES
from ..analysis.program_groups import program_groups
from ..analysis.tables import Table, format_cell, rows_of
from ..statistics import facts as facts_table
from ..statistics import find_statistics, leaderboard
from ..statistics.curves import CurveRow
from ..studies import study_modules
from .page import METHODS, StandIn, template

Facts = Mapping[str, Any]


def facts_of(tables: Mapping[str, Table]) -> Facts:
    return {row.fact: row.value for row in rows_of(tables, facts_table.Row)}


def page_sentences(tables: Mapping[str, Table]) -> dict[str, list[str]]:
    """By the part of the page."""
    board, facts = rows_of(tables, leaderboard.Row), facts_of(tables)
    sentences = {
        group: _group_sentences(group, [row for row in board if row.group == group], tables, facts)
        for group in dict.fromkeys(row.group for row in board)
    }
    if board:
        lead = _lead_sentences(board, tables, facts)
    else:
        other = stand_in(tables)
        lead = other.lead if other else [why_nothing_counts(facts)]
    alarms = [
        f"ALARM: {alarm}"
        for name, statistic in find_statistics().items()
        if hasattr(statistic, "alarms")
        for alarm in statistic.alarms(tables[name].typed_rows)
    ]
    return sentences | {
        "lead": lead + alarms,
        METHODS: [part for part in methods_paragraph(tables).split("\n\n") if not part.startswith("#")],
    }


def _lead_sentences(board: Sequence[leaderboard.Row], tables: Mapping[str, Table], facts: Facts) -> list[str]:
    group = [row for row in board if row.group == board[0].group]
    rows = [row for row in group if row.role == ROLES["editor"]] or group
    column = next(column for column in tables["leaderboard"].columns if column.key == "rounds_kept")
    names = display_names(row.editor for row in rows)
    ends = {"Best: ": rows[0], "Worst: ": rows[-1]} if len(rows) > 1 else {"": rows[0]}
    survivals = [
        f"{rank}{names[row.editor]} survives {format_cell(row.cells, column)} of {row.last_round} rounds."
        for rank, row in ends.items()
    ]
    roles = {row.editor: row.role for row in board}
    baselines = sum(role == ROLES["baseline"] for role in roles.values())
    counts = (
        f"{_counted(len(roles) - baselines, 'editor')} and {_counted(baselines, 'baseline')}, "
        f"{_counted(facts['chains'], 'test')} on {_counted(facts['sources'], 'picture')} of the suite {facts['suite']}."
    )
    sentences = [" ".join(survivals), counts]
    if facts["editors without scores"] != "none":
        sentences.append(
            f"Not on this page, because their chains have no scores: {facts['editors without scores']}; "
            "`convergebench score` adds them."
        )
    return sentences


def stand_in(tables: Mapping[str, Table]) -> StandIn | None:
    """The first study that answers, if no case is counted."""
    if tables["leaderboard"].rows:
        return None
    facts = facts_of(tables)
    answers = (module.stand_in(tables, facts) for module in study_modules("page"))
    return next((answer for answer in answers if answer), None)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _group_sentences(
    group: str, board: Sequence[leaderboard.Row], tables: Mapping[str, Table], facts: Facts
) -> list[str]:
    programs = program_groups()[group]
    checks = facts[f"{group}: checks"].split(", ")
    missing = [
        CHECK_TITLES[check]
        for check in CHECKS
        if check not in checks and not (check == "edits" and not programs.asks_edits)
    ]
    sentences = [
        f"These are {programs.description}: {facts[f'{group}: cases']} tests on {facts[f'{group}: sources']} pictures, "
        f"up to {facts[f'{group}: rounds']} rounds. Baselines, below the double line, show the best and worst possible "
        "scores; they have no rank."
    ]
    if missing:
        sentences.append(f"Left out, because fewer than half of the editors have it: {', '.join(missing)}.")
    partial = facts[f"{group}: checks that only some editors have"]
    if partial != "none":
        sentences.append(f"Only some editors have {partial}; `convergebench score` adds what is missing.")
    sentences += [f"{row.editor} is listed apart, without a rank: {row.apart}." for row in board if row.apart]
    if any(row.role == ROLES["editor"] and row.rank.value is None for row in board):
        sentences.append(
            f"Editors that share fewer than {facts['sources for a verdict']} pictures are not ranked: too few to tell "
            "a difference from chance."
        )
    if excluded := excluded_sentence(facts):
        sentences.append(excluded)
    on = {row.on for row in rows_of(tables, CurveRow) if row.group == group and row.slice == "all"}
    tests = "tests that all editors finished without technical failure" if on == {"common"} else "each editor's tests"
    sentences.append(
        f"Curves are drawn on {tests}. A refused test is no longer in the curves of quality; in that of survival it "
        f"counts as failed. Bands and brackets are {facts['limits']} confidence intervals across pictures."
    )
    return sentences


def excluded_sentence(facts: Facts) -> str:
    """Empty if all pictures count."""
    if facts["excluded sources"] == "none":
        return ""
    return f"Left out, because too many unrelated pictures resemble them: {facts['excluded sources']}."


def why_nothing_counts(facts: Facts) -> str:
    excluded = excluded_sentence(facts)
    encodings = "Encodings of one picture share one step 0 if they are imported with `--originals`."
    return " ".join(["No case of these scores is counted.", *([excluded, encodings] if excluded else [])])


def methods_paragraph(tables: Mapping[str, Table]) -> str:
    """In Markdown, for a paper."""
    facts = facts_of(tables)
    groups = [name.partition(":")[0] for name in facts if name.endswith(": headline")]
    text = template("methods.md").render(
        facts=facts,
        groups={group: _facts_after(facts, f"{group}: ") for group in groups},
        checks={check: CHECK_TITLES[check] for check in CHECKS},
        qualities=_titles(QUALITIES),
        meanings=_titles(MEANINGS),
        chains=where_chains_went(facts),
        ends=_facts_after(facts, "chains that ended "),
        signatures=list(_facts_after(facts, "signature ").values()),
    )
    paragraphs = re.split(r"\n{2,}", text.strip())
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs) + "\n"


def _titles(columns: Sequence[str]) -> str:
    *first, last = [COLUMNS[name].title for name in columns]
    return f"{', '.join(first)} and {last}" if first else last


def where_chains_went(facts: Facts) -> str:
    """As a sum; then the checks that could not be made."""
    counts = {end: facts[f"cases {end}"] for end in ("kept", "lost", "missing")}
    of_studies = {name: facts[name] for group in program_groups().values() for name in group.outcomes if facts[name]}
    if of_studies:
        counts = {end: count for end, count in counts.items() if count} | of_studies
    left_out = _facts_after(facts, "left out: ")
    counts |= {f"left out ({reason})": count for reason, count in left_out.items() if count}
    total = " + ".join(f"{count} {name}" for name, count in counts.items())
    gaps = _facts_after(facts, "edit check left out, ")
    text = ", ".join(f"{count} ({Missing(code).sentence})" for code, count in gaps.items())
    unjudged = f"; edits that could not be judged, so the other checks decide: {text}" if gaps else ""
    return f"{facts['chains generated']} chains generated = {total}{unjudged}"


def _facts_after(facts: Facts, start: str) -> dict[str, Any]:
    return {name.removeprefix(start): value for name, value in facts.items() if name.startswith(start)}
