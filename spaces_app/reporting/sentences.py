"""The sentences of the page and of the methods paragraph, all made from the tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.scores import Missing

from ..analysis.cases import COLUMNS, MEANINGS, QUALITIES
from ..analysis.display_names import display_names
from ..analysis.groups import CHECK_TITLES, CHECKS, ROLES
from ..analysis.program_groups import program_groups
from ..analysis.round_curves import CurveRow
from ..analysis.tables import Table, format_cell, rows_of
from ..statistics import facts as facts_table
from ..statistics import find_statistics, leaderboard
from ..studies import study_modules
from .page import METHODS, WORST_CASES, StandIn

Facts = Mapping[str, Any]


def facts_of(tables: Mapping[str, Table]) -> Facts:
    """The facts of a report by name."""
    return {row.fact: row.value for row in rows_of(tables, facts_table.Row)}


def page_sentences(tables: Mapping[str, Table]) -> dict[str, list[str]]:
    """Sentences by the part of the page they belong to."""
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
        WORST_CASES: [
            "For each editor the tests that it failed first, with pictures; the share is the quality that was retained."
        ],
    }


def _lead_sentences(board: Sequence[leaderboard.Row], tables: Mapping[str, Table], facts: Facts) -> list[str]:
    """The first lines: which editors last longest and shortest, and how much was tested."""
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
    """What replaces the headline if no case is counted: the answer of the first study that has one."""
    if tables["leaderboard"].rows:
        return None
    facts = facts_of(tables)
    answers = (module.stand_in(tables, facts) for module in study_modules("page"))
    return next((answer for answer in answers if answer), None)


def _counted(number: int, noun: str) -> str:
    """The number with its noun: 1 editor, 5 baselines, 1,014 tests."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _group_sentences(
    group: str, board: Sequence[leaderboard.Row], tables: Mapping[str, Table], facts: Facts
) -> list[str]:
    """What the group asks for, what was checked and what was not, and how reliable the ranks are."""
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
    """Which pictures no headline counts, and why; empty if all count."""
    if facts["excluded sources"] == "none":
        return ""
    return f"Left out, because too many unrelated pictures resemble them: {facts['excluded sources']}."


def why_nothing_counts(facts: Facts) -> str:
    """The sentence shown instead of an empty leaderboard."""
    excluded = excluded_sentence(facts)
    encodings = "Encodings of one picture share one step 0 if they are imported with `--originals`."
    return " ".join(["No case of these scores is counted.", *([excluded, encodings] if excluded else [])])


def methods_paragraph(tables: Mapping[str, Table]) -> str:
    """The facts in sentences for a paper, in Markdown."""
    facts = facts_of(tables)
    groups = [name.partition(":")[0] for name in facts if name.endswith(": headline")]
    signatures = _facts_after(facts, "signature ").values()
    parts = [
        _what_was_measured(facts),
        *(_group_methods(facts, group) for group in groups),
        _how_editors_are_compared(facts),
    ]
    parts += [f"Signatures: {'; '.join(signatures)}."] if signatures else []
    return "# Methods\n\n" + "\n\n".join(parts) + "\n"


def _what_was_measured(facts: Facts) -> str:
    return (
        f"We used ConvergeBench (suite {facts['suite']}): {facts['editors']} editors, {facts['chains']} chains on "
        f"{facts['sources']} source pictures, {facts['score rows']} scored steps. Every distance is measured between a "
        "return and its chain's reference at the suite's evaluation size. Retained quality is (m - floor) / (ceiling - "
        "floor), clipped to the unit interval, with the floor of each reference the metric's median over the suite's "
        f"unrelated sources ({facts['floor pairs']} pairs). A case counts until the first of: edit not made, not taken "
        f"back, the lowest of retained {_titles(QUALITIES)} below {facts['threshold']}, a part lost (a connected "
        "region of another colour than the reference, once drift is taken off), retained "
        f"{_titles(MEANINGS)} below the same threshold, refusal. "
        f"Excluded from headlines, because unrelated pictures resemble them: {facts['excluded sources']}. Chains "
        f"under recall audit, which are not counted: {facts['chains under audit']}. {where_chains_went(facts)}."
    )


def _titles(columns: Sequence[str]) -> str:
    """Titles of columns in a sentence: 'RMSE, SSIM and LPIPS'."""
    *first, last = [COLUMNS[name].title for name in columns]
    return f"{', '.join(first)} and {last}" if first else last


def where_chains_went(facts: Facts) -> str:
    """What became of every chain, as a sum; then the checks that could not be made."""
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
    """The facts whose names begin with `start`, by the rest of the name."""
    return {name.removeprefix(start): value for name, value in facts.items() if name.startswith(start)}


def _group_methods(facts: Facts, group: str) -> str:
    group_facts = _facts_after(facts, f"{group}: ")
    covered = ", ".join(f"{CHECK_TITLES[check]} {group_facts[f'coverage of {check}']}" for check in CHECKS)
    return (
        f"{group.capitalize()}: the headline is {group_facts['headline']}, on {group_facts['cases']} cases of "
        f"{group_facts['sources']} sources and {group_facts['programs']} programs, up to {group_facts['rounds']} "
        f"rounds; {group_facts['missing cases']} cases are missing "
        f"through technical failure or without scores. Coverage of returns: {covered}."
    )


def _how_editors_are_compared(facts: Facts) -> str:
    ends = [f"{count} {end}" for end, count in _facts_after(facts, "chains that ended ").items()]
    return (
        f"Chains ended: {', '.join(ends)}. Half-lives are Kaplan-Meier medians; the last round censors, a refusal is a "
        "loss, and so is a technical failure, in the round in which it came: failing never helps. "
        f"{facts['limits']} limits of medians: bootstrap over sources with expanded percentile limits; "
        "of mean rounds: the widest of Student's t on source means, the same on the logit scale, and what the share of "
        "chains that were lost, or kept a round, leaves open; of shares: score limits for as many independent chains "
        "as the sources show. Limits say what other pictures would give under these programs; those over sources and "
        "programs (two-way) what other programs would give as well. Editors are compared in pairs on their common "
        "cases by an exact sign-flip test on source means of rounds kept. Pairs "
        "of editors are corrected together by step-down max-T over joint flips of sources, at level "
        f"{facts['level']}; a pair with a baseline is judged by its own p, which no third editor changes, so "
        "one in twenty pairs of equal editors is called different. The test asks for differences that are "
        "symmetric around zero: editors of equal mean and unequal shape (always 8 rounds against 20 or 0) are called "
        "different more often than this level says if sources are few (docs/statistics.md has the simulations). "
        f"With fewer than {facts['sources for a verdict']} common sources no verdict is given. A rank is "
        "one more than the number of better editors; its limits are the best and worst rank that the verdicts allow."
    )
