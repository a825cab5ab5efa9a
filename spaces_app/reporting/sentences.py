"""What the page and the methods paragraph say in words, all of it read off the tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.scores import Missing

from ..analysis.cases import COLUMNS, MEANINGS, QUALITIES
from ..analysis.display_names import display_names
from ..analysis.groups import CHECK_TITLES, CHECKS, ROLES
from ..analysis.program_groups import program_groups
from ..analysis.tables import Table, format_cell, format_value
from ..statistics import find_statistics
from ..studies import study_modules
from .page import METHODS, WORST_CASES, StandIn


def page_sentences(tables: Mapping[str, Table]) -> dict[str, list[str]]:
    """Sentences by the part of the page they belong to."""
    board = tables["leaderboard"].rows
    known = {row["fact"]: row["value"] for row in tables["facts"].rows}
    groups = list(dict.fromkeys(row["group"] for row in board))
    found = {
        group: _group_sentences(group, [row for row in board if row["group"] == group], tables, known)
        for group in groups
    }
    found["lead"] = _first_lines(board, tables, known)
    found["lead"] += [
        f"ALARM: {alarm}"
        for name, statistic in find_statistics().items()
        if hasattr(statistic, "alarms")
        for alarm in statistic.alarms(tables[name].typed_rows)
    ]
    found[METHODS] = [part for part in methods_paragraph(tables["facts"]).split("\n\n") if not part.startswith("#")]
    found[WORST_CASES] = [
        "For each editor the tests that it failed first, with pictures; the share is the quality that was retained."
    ]
    return found


def _first_lines(
    board: Sequence[Mapping[str, Any]], tables: Mapping[str, Table], known: Mapping[str, Any]
) -> list[str]:
    """Who lasts; or what a study says instead; or why nothing counts."""
    if board:
        return _lead_sentences(board, tables, known)
    other = stand_in(tables)
    return other.lead if other else [why_nothing_counts(known)]


def _lead_sentences(
    board: Sequence[Mapping[str, Any]], tables: Mapping[str, Table], known: Mapping[str, Any]
) -> list[str]:
    """The first lines: who lasts, on how much."""
    first = board[0]["group"]
    rows = [row for row in board if row["group"] == first and row["role"] == "editors"] or [
        row for row in board if row["group"] == first
    ]
    column = next(column for column in tables["leaderboard"].columns if column.key == "rounds_kept")
    names = display_names(row["editor"] for row in rows)
    ends = {"Best: ": rows[0], "Worst: ": rows[-1]} if len(rows) > 1 else {"": rows[0]}
    kept = [
        f"{rank}{names[row['editor']]} survives {format_cell(row, column)} of {row['last_round']} rounds."
        for rank, row in ends.items()
    ]
    every = {row["editor"]: row["role"] for row in board}
    baselines = sum(role == ROLES["baseline"] for role in every.values())
    counts = (
        f"{counted(len(every) - baselines, 'editor')} and {counted(baselines, 'baseline')}, "
        f"{counted(known['chains'], 'test')} on {counted(known['sources'], 'picture')} of the suite {known['suite']}."
    )
    found = [" ".join(kept), counts]
    if known["editors without scores"] != "none":
        found.append(
            f"Not on this page, because their chains have no scores: {known['editors without scores']}; "
            "`convergebench score` adds them."
        )
    return found


def stand_in(tables: Mapping[str, Table]) -> StandIn | None:
    """What the first study with something to say puts in the place of the headline, if no case is counted."""
    if tables["leaderboard"].rows:
        return None
    facts = {row["fact"]: row["value"] for row in tables["facts"].rows}
    answers = (module.stand_in(tables, facts) for module in study_modules("page"))
    return next((answer for answer in answers if answer), None)


def counted(number: Any, what: str) -> str:
    """The number with its noun: 1 editor, 5 baselines, 1,014 tests."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _group_sentences(
    group: str, board: Sequence[Mapping[str, Any]], tables: Mapping[str, Table], known: Mapping[str, Any]
) -> list[str]:
    """What the group asks for, what was checked and what was not, and how much the ranks can bear."""
    about = program_groups()[group]
    checks = known[f"{group}: checks"].split(", ")
    missing = [
        CHECK_TITLES[check]
        for check in CHECKS
        if check not in checks and not (check == "edits" and not about.asks_edits)
    ]
    found = [
        f"These are {about.description}: {known[f'{group}: cases']} tests on {known[f'{group}: sources']} pictures, "
        f"up to {known[f'{group}: rounds']} rounds. Baselines, below the double line, show the best and worst possible "
        "scores; they have no rank."
    ]
    if missing:
        found.append(f"Left out, because fewer than half of the editors have it: {', '.join(missing)}.")
    partial = known[f"{group}: checks that only some editors have"]
    if partial != "none":
        found.append(f"Only some editors have {partial}; `convergebench score` adds what is missing.")
    found += [f"{row['editor']} is listed apart, without a rank: {row['apart']}." for row in board if row["apart"]]
    if any(row["role"] == "editors" and row["rank"] is None for row in board):
        found.append(
            f"Editors that share fewer than {known['sources for a verdict']} pictures are not ranked: too few to tell "
            "a difference from chance."
        )
    if excluded := excluded_sentence(known):
        found.append(excluded)
    on = {row["on"] for row in tables["curves"].rows if row["group"] == group and row["slice"] == "all"}
    words = (
        "the tests that all editors finished without technical failure"
        if on == {"common"}
        else "each editor's own tests"
    )
    found.append(
        f"Curves are drawn on {words}; a refused test is no longer in the curves of quality, but counts as failed in "
        f"that of survival. Bands and brackets are {known['limits']} confidence intervals across pictures."
    )
    return found


def headline(tables: Mapping[str, Table], columns: Sequence[str]) -> Table:
    """The first group's headline, for a terminal."""
    board = tables["leaderboard"]
    rows = [row for row in board.rows if row["group"] == board.rows[0]["group"]] if board.rows else []
    if not rows and (other := stand_in(tables)):
        return other.table
    empty = {key for key in columns if all(row.get(key) is None for row in rows)}
    shown = tuple(
        column._replace(shown=column.shown or column.key == "role")  # no double line sets baselines apart here
        for column in board.columns
        if column.key in columns and column.key not in empty
    )
    known = {row["fact"]: row["value"] for row in tables["facts"].rows}
    title = rows[0]["name"] if rows else why_nothing_counts(known)
    return Table(board.name, str(title), shown, rows, format_value(None, "text"))


def excluded_sentence(known: Mapping[str, Any]) -> str:
    """Which pictures no headline counts, and why; empty where all count."""
    if known["excluded sources"] == "none":
        return ""
    return f"Left out, because too many unrelated pictures resemble them: {known['excluded sources']}."


def why_nothing_counts(known: Mapping[str, Any]) -> str:
    """What a board without a row says."""
    nothing = "There is no case to count in these scores"
    excluded = excluded_sentence(known)
    return (
        f"{nothing}. {excluded} Encodings of one picture take one step 0 when they are imported with `--originals`."
        if (excluded)
        else f"{nothing}."
    )


def methods_paragraph(facts: Table) -> str:
    """The facts in sentences for a paper, in Markdown."""
    known = {row["fact"]: row["value"] for row in facts.rows}
    groups = [name.partition(":")[0] for name in known if name.endswith(": headline")]
    signatures = [str(value) for name, value in known.items() if name.startswith("signature ")]
    parts = [
        _what_was_measured(known),
        *(_group_methods(known, group) for group in groups),
        _how_editors_are_compared(known),
    ]
    parts += [f"Signatures: {'; '.join(signatures)}."] if signatures else []
    return "# Methods\n\n" + "\n\n".join(parts) + "\n"


def _what_was_measured(known: Mapping[str, Any]) -> str:
    return (
        f"We used ConvergeBench (suite {known['suite']}): {known['editors']} editors, {known['chains']} chains on "
        f"{known['sources']} source pictures, {known['score rows']} scored steps. Every distance is measured between a "
        "return and its chain's reference at the suite's evaluation size. Retained quality is (m - floor) / (ceiling - "
        "floor), clipped to the unit interval, with the floor of each reference the metric's median over the suite's "
        f"unrelated sources ({known['floor pairs']} pairs). A case counts until the first of: edit not made, not taken "
        f"back, the lowest of retained {titles(QUALITIES)} below {known['threshold']}, a part lost (a connected region "
        "of another colour than the reference, once drift is taken off), retained "
        f"{titles(MEANINGS)} below the same threshold, refusal. "
        f"Excluded from headlines, because unrelated pictures resemble them: {known['excluded sources']}. Chains "
        f"under recall audit, which are not counted: {known['chains under audit']}. {where_chains_went(known)}."
    )


def titles(columns: Sequence[str]) -> str:
    """Columns' titles in a sentence: 'RMSE, SSIM and LPIPS'."""
    *first, last = [COLUMNS[name].title for name in columns]
    return f"{', '.join(first)} and {last}" if first else last


def where_chains_went(known: Mapping[str, Any]) -> str:
    """What became of every chain, as a sum; then the checks that could not be made."""
    ends = [f"{known[f'cases {end}']} {end}" for end in ("kept", "lost", "missing")]
    if others := [f"{value} {name}" for name, value in known.items()
                  if name.startswith(("restorations ", "counted as ")) and value]:  # fmt: skip
        ends = [each for each in ends if not each.startswith("0 ")] + others
    mark, gap = "left out: ", "edit check left out, "
    ends += [f"{value} left out ({name.removeprefix(mark)})" for name, value in known.items()
             if name.startswith(mark) and value]  # fmt: skip
    gaps = [f"{value} ({Missing(name.removeprefix(gap)).sentence})" for name, value in known.items()
            if name.startswith(gap)]  # fmt: skip
    words = f"{known['chains generated']} chains generated = {' + '.join(ends)}"
    return words + (f"; edits that nobody can judge, where the other checks count: {', '.join(gaps)}" if gaps else "")


def _group_methods(known: Mapping[str, Any], group: str) -> str:
    own = {name.removeprefix(f"{group}: "): value for name, value in known.items() if name.startswith(f"{group}: ")}
    covered = ", ".join(f"{CHECK_TITLES[check]} {own[f'coverage of {check}']}" for check in CHECKS)
    return (
        f"{group.capitalize()}: the headline is {own['headline']}, on {own['cases']} cases of {own['sources']} sources "
        f"and {own['programs']} programs, up to {own['rounds']} rounds; {own['missing cases']} cases are missing "
        f"through technical failure or without scores. Coverage of returns: {covered}."
    )


def _how_editors_are_compared(known: Mapping[str, Any]) -> str:
    mark = "chains that ended "
    ends = [f"{value} {name.removeprefix(mark)}" for name, value in known.items() if name.startswith(mark)]
    return (
        f"Chains ended: {', '.join(ends)}. Half-lives are Kaplan-Meier medians; the last round censors, a refusal is a "
        "loss, and so is a technical failure, in the round in which it came: failing never helps. "
        f"{known['limits']} limits of medians: bootstrap over sources with expanded percentile limits; "
        "of mean rounds: the widest of Student's t on source means, the same on the logit scale, and what the share of "
        "chains that were lost, or kept a round, leaves open; of shares: score limits for as many independent chains "
        "as the sources show. Limits say what other pictures would give under these programs; those over sources and "
        "programs (two-way) what other programs would give as well. Editors are compared in pairs on their common "
        "cases by an exact sign-flip test on source means of rounds kept. Pairs "
        "of editors are corrected together by step-down max-T over joint flips of sources, at level "
        f"{known['level']}; a pair with a baseline is judged by its own p, which no third editor moves, so that "
        "one in twenty equals is called different. The test asks for differences that are symmetric around zero: "
        "editors of equal mean and unequal shape (always 8 rounds against 20 or 0) are told apart more often than "
        "promised where sources are few (docs/statistics.md has the simulations). With fewer than "
        f"{known['sources for a verdict']} common sources no verdict is given. A rank is one more than the "
        "number of better editors; its limits are the best and the worst rank that the verdicts leave open."
    )
