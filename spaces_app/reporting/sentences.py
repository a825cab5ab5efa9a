"""The sentences of the page, all made from the tables."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from convergebench.metric_modules.scores import Missing

from ..analysis.cases import COLUMNS, MEANINGS, QUALITIES
from ..analysis.groups import CHECK_TITLES, CHECKS, ROLES
from ..analysis.program_groups import program_groups
from ..analysis.tables import Table, rows_of
from ..statistics import facts as facts_table
from ..statistics import find_statistics, leaderboard
from ..statistics.curves import CurveRow
from ..studies import study_modules
from .headline import counted, headline

HERE = Path(__file__).parent
METHODS = "Methods"  # the last section
Facts = Mapping[str, Any]
Tables = Mapping[str, Table]


def template(name: str) -> jinja2.Template:
    """In HTML, everything that comes from a table is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def facts_of(tables: Tables) -> Facts:
    return {row.fact: row.value for row in rows_of(tables, facts_table.Row)}


def page_sentences(tables: Tables, scored: str = "") -> dict[str, list[str]]:
    board, facts = rows_of(tables, leaderboard.Row), facts_of(tables)
    by_group: dict[str, list[leaderboard.Row]] = {}
    for row in board:
        by_group.setdefault(row.group, []).append(row)
    if board:
        lead = _lead_sentences(board, facts, scored)
    else:
        other = stand_in(tables)
        lead = other["lead"] if other else [why_nothing_counts(facts)]
    alarms = [
        f"ALARM: {alarm}"
        for name, statistic in find_statistics().items()
        if hasattr(statistic, "alarms")
        for alarm in statistic.alarms(tables[name].typed_rows)
    ]
    return {group: _group_sentences(group, rows, tables, facts) for group, rows in by_group.items()} | {
        "lead": lead + alarms,
        METHODS: [part for part in methods_paragraph(tables).split("\n\n") if not part.startswith("#")],
    }


def _lead_sentences(board: Sequence[leaderboard.Row], facts: Facts, scored: str) -> list[str]:
    answer, scope = headline([row for row in board if row.group == board[0].group], scored)
    roles = {row.editor: row.role for row in board}
    baselines = sum(role == ROLES["baseline"] for role in roles.values())
    editors = f"{counted(len(roles) - baselines, 'editor')} and {counted(baselines, 'baseline')}"
    counts = f"{scope} {editors}, {counted(facts['chains'], 'test')} in all, of the suite {facts['suite']}."
    unscored = facts["editors without scores"]
    why = f"Not on this page, because their chains have no scores: {unscored}; `convergebench score` adds them."
    return [answer, counts, *([] if unscored == "none" else [why])]


def stand_in(tables: Tables) -> dict[str, Any] | None:
    """The first study that answers, if no case is counted."""
    if tables["leaderboard"].rows:
        return None
    facts = facts_of(tables)
    answers = (module.stand_in(tables, facts) for module in study_modules("page"))
    return next((answer for answer in answers if answer), None)


def _group_sentences(group: str, board: Sequence[leaderboard.Row], tables: Tables, facts: Facts) -> list[str]:
    programs = program_groups()[group]
    checks = facts[f"{group}: checks"].split(", ")
    asked = [check for check in CHECKS if check != "edits" or programs.asks_edits]
    missing = ", ".join(CHECK_TITLES[check] for check in asked if check not in checks)
    partial = facts[f"{group}: checks that only some editors have"]
    unranked = any(row.role == ROLES["editor"] and row.rank.value is None for row in board)
    on = {row.on for row in rows_of(tables, CurveRow) if row.group == group and row.slice == "all"}
    tests = "tests that all editors finished without technical failure"
    tests = tests if on == {"common"} else "each editor's tests"
    sentences = {
        f"These are {programs.description}: {facts[f'{group}: cases']} tests on {facts[f'{group}: sources']} pictures, "
        f"up to {facts[f'{group}: rounds']} rounds. Baselines, below the double line, show the best and worst possible "
        "scores; they have no rank.": True,
        f"Left out, because fewer than half of the editors have it: {missing}.": missing,
        f"Only some editors have {partial}; `convergebench score` adds what is missing.": partial != "none",
        **{f"{row.editor} is listed apart, without a rank: {row.apart}.": row.apart for row in board},
        f"Editors that share fewer than {facts['sources for a verdict']} pictures are not ranked: too few to tell "
        "a difference from chance.": unranked,
        excluded_sentence(facts): True,
        f"Curves are drawn on {tests}; a refused test leaves those of quality and fails in that of survival. "
        f"Bands and brackets are {facts['limits']} confidence intervals across pictures.": True,
    }
    return [sentence for sentence, is_said in sentences.items() if sentence and is_said]


def excluded_sentence(facts: Facts) -> str:
    excluded = facts["excluded sources"]
    return (
        "" if excluded == "none" else f"Left out, because too many unrelated pictures resemble them: {excluded}."
    )


def why_nothing_counts(facts: Facts) -> str:
    excluded = excluded_sentence(facts)
    encodings = " Encodings of one picture share one step 0 if they are imported with `--originals`."
    return "No case of these scores is counted." + (f" {excluded}{encodings}" if excluded else "")


def methods_paragraph(tables: Tables) -> str:
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
    return " and ".join(", ".join(COLUMNS[name].title for name in columns).rsplit(", ", 1))


def where_chains_went(facts: Facts) -> str:
    """As a sum; then the checks that could not be made."""
    counts = {end: facts[f"cases {end}"] for end in ("kept", "lost", "missing")}
    of_studies = {
        name: facts[name] for group in program_groups().values() for name in group.outcomes if facts[name]
    }
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
