"""The checks of honesty over cases: from which evidence on an editor is listed apart, and with which reason."""

import dataclasses
import json
from dataclasses import replace

import kept_numbers
import pytest
from convergebench.dataset_builder.dataset.rows import editor_row
from convergebench.generation.records import EditorInfo, FinishedChain
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.tables import Table
from convergebench.spaces_app.studies.honesty.apart import UNJUDGED, UNSEEN
from convergebench.spaces_app.studies.honesty.statistics import honesty
from convergebench.spaces_app.studies.honesty.statistics.honesty import CHECKS, MARKS, Row, judge_known, rows
from stores import chain

PROGRAMS = {"red-ball": "red", "blue-book": "blue", "green-apple": "green"}


def cases(count, editor="one", programs=("red-ball",), **values):
    """A dataset of finished chains, one for each source and program, with the same values in round 1."""
    chains, scores = [], []
    for number in range(count):
        for name in programs:
            made = finished(editor, number, name)
            own = {key: value(number, name) if callable(value) else value for key, value in values.items()}
            scores.append({"chain": made.id, "round": 1, "position": 2, **own})
            chains.append(made)
    return scores, chains


def finished(editor, number, name):
    plain = chain(editor, 1, name=name)
    program = replace(plain.program, cycle=(f"add a {PROGRAMS[name]} thing", "remove it"), small=False)
    made = replace(plain, source=replace(plain.source, id=f"source-{number}"), program=program)
    return FinishedChain(made.id, made, "test", "1", "complete", 4, None)


def reasons_apart(scores, chains):
    return Analysis(scores, chains).apart


def verdict(check, scores, chains):
    [row] = [row for row in rows(Analysis(scores, chains)) if row.check == check]
    return row.outcome, row.value, row.cases


def every(number, other=0.1):
    """1.9 for one picture of so many."""
    return lambda source, name: other if source % number else 1.9


@pytest.mark.parametrize(("check", "count", "value", "expected"), [
    ("known", 60, every(12), "passed"),  # one picture of twelve may be guessed by anybody
    ("known", 60, every(3), "failed"),  # memory in a third of cases
    ("known_mean", 20, 0.7, "failed"),  # steady memory, even if it is a part of each case
    ("known_mean", 20, 0.4, "passed"),
    ("known_mean", 20, every(2, 0.2), "passed"),  # what is known half the time is a lucky guess, however good
    ("known_mean", 20, every(2, -0.2), "passed"),
])  # fmt: skip
def test_a_check_judges_by_its_share_of_cases(check, count, value, expected):
    assert verdict(check, *cases(count, known=value))[0] == expected


# A facade that an honest editor completes in every program is one picture, not nine cases.
def test_memory_in_one_program_is_found_but_not_of_one_picture():
    of_one_picture = cases(12, programs=tuple(PROGRAMS), known=lambda number, name: 2.2 * (number == 0))
    in_one_program = cases(12, programs=tuple(PROGRAMS), known=lambda number, name: 1.9 * (name == "blue-book"))
    for given, known in ((of_one_picture, "passed"), (in_one_program, "failed")):
        assert (verdict("known", *given)[0], verdict("known_mean", *given)[0]) == (known, "passed")


def test_an_editor_whose_edits_cover_too_little_has_no_rank():
    unseen = json.dumps({"known": "too_little_covered"})
    for seen, covered in ((0, 7), (12, 9), (6, 6), (5, 7), (0, 8)):  # over half, of at least eight
        scores, chains = cases(seen + covered, known=0.0)
        later = [row | {"round": 2, "known": None, "reasons": unseen} for row in scores]
        given = [*scores[:seen], *cases(seen + covered, reasons=unseen)[0][seen:], *later]
        assert reasons_apart(given, chains) == ({"one": (UNSEEN,)} if (seen, covered) in ((5, 7), (0, 8)) else {})


@pytest.mark.parametrize(("check", "values", "expected"), [
    ("known", [("a", 1.9), ("b", 1.9), ("c", 1.9)] * 2 + [("a", 1.9)], "not judged"),
    ("known", [("a", 1.9), ("b", 1.9)] * 4, "not judged"),
    ("known", [("a", 1.9), ("b", 1.9), ("c", 1.9)] * 2 + [("a", 1.9)] * 2, "failed"),
    ("known", [("a", 1.75), ("b", 1.75), ("c", 1.75)] * 3, "passed"),
    # Limits by Student's t of .95: 2.92 for 3 pictures, 2.353 for 4, 1.796 for 12, times at least 0.2 / sqrt(n).
    ("known_mean", [(name, 0.7) for name in "abc"] * 3, "passed"),  # from 0.363
    ("known_mean", [(name, 0.7) for name in "abcd"] * 2, "failed"),  # from 0.465
    ("known_mean", [(name, 0.6) for name in "abcdefghijkl"], "failed"),  # from 0.496
    ("known_mean", [(name, 0.7 * (name < "k")) for name in "abcdefghijkl"], "passed"),  # 0.583 - 1.796 * 0.0787
])  # fmt: skip
def test_what_is_known_is_judged_by_its_limits(check, values, expected):
    assert judge_known(check, values)[0] == expected


def test_dropped_chains_and_a_standing_list_an_editor_apart():
    for count, planned, standing in ((19, 20, ""), (18, 20, ""), (18, 0, "withdrawn")):
        rows = [editor_row("one", EditorInfo("one", "editor", planned=planned, standing=standing))]
        apart = Analysis(*cases(count), tables={"editors": rows}).apart
        missing = "2 of its 20 planned chains are missing"
        assert apart == ({} if count == 19 else {"one": (standing or missing,)})


def salted(chains, **more):
    salt = {"short_side": 512, "salt": "ab", **more}
    return [replace(one, chain=replace(one.chain, settings=salt)) for one in chains]


def test_an_unjudged_editor_under_a_salt_has_no_rank():
    scores, chains = cases(12, marks_unshown=40.0, marks_shown=5.0)
    assert reasons_apart(scores, salted(chains)) == {"one": (UNJUDGED,)}
    assert reasons_apart(scores, salted(chains, audit="marks")) == {}
    assert reasons_apart(scores, chains) == reasons_apart(*cases(12)) == {}
    assert list(rows(Analysis(*cases(12)))) == []


def under_marks(ratios, sources):
    """Audited chains, each with its ratio of the distances to the picture without marks and to that with them."""
    chains, scores = [], []
    for number, (ratio, source) in enumerate(zip(ratios, sources, strict=True)):
        made = finished("one", source, "red-ball")
        made = replace(made, id=f"chain-{number}", chain=replace(made.chain, run=number + 1))
        chains.append(made)
        if ratio is not None:
            distances = {"marks_unshown": ratio, "marks_shown": 1.0}
            scores.append({"chain": made.id, "round": 1, "position": 2, **distances})
    return scores, salted(chains, audit="marks")


@pytest.mark.parametrize(("ratios", "sources", "expected"), [
    ([None], "a", ("not judged", None, 0)),
    ([0.5] * 3, "abc", ("passed", 0, 3)),
    ([0.2, 0.2, 1.5] * 2, "aaabbb", ("failed", 4, 6)),
    ([0.2, 1.5] * 2, "aabb", ("passed", 2, 4)),
    ([0.2] * 8, "aaaaaaaa", ("passed", 8, 8)),  # one source has one vote
    ([0.2, 0.3, 1.5], "abc", ("failed", 2, 3)),
    ([0.2, 0.3, 1.5, 1.5], "abcd", ("passed", 2, 4)),
])  # fmt: skip
def test_recall_is_confirmed_by_several_sources(ratios, sources, expected):
    scores, chains = under_marks(ratios, sources)
    assert verdict(MARKS, scores, chains) == expected
    reasons = {"failed": CHECKS[MARKS], "not judged": UNJUDGED}.get(expected[0])
    assert reasons_apart(scores, chains) == ({"one": (reasons,)} if reasons else {})


def test_a_chain_counts_by_its_middle_return():
    assert honesty._middle_ratio([(5.0, 50.0)] * 9 + [(60.0, 6.0)]) == 0.1
    assert honesty._middle_ratio([(5.0, 50.0), (60.0, 6.0)]) == 10.0
    assert honesty._middle_ratio([(0.0, 0.0)]) == 1.0


@pytest.mark.parametrize(("fillers", "says_so"), [("plain", True), ("migan", False)])
def test_a_measurement_without_the_network_is_named(fillers, says_so):
    signature = json.dumps({"engine": {}, "honesty": {"version": 4, "fillers": fillers}})
    scores, chains = cases(12, known=0.1, signature=signature)
    assert ("without MI-GAN" in honesty.note(Analysis(scores, chains), [])) is says_so


def test_the_numbers_of_every_row():
    given = {"known": cases(24, known=every(3, 0.4)), "marks": under_marks([0.2, 0.45, 0.6, 1.5], "abcd")}
    tables = {name: list(map(dataclasses.asdict, rows(Analysis(*each)))) for name, each in given.items()}
    tables["columns"] = [{"": [column.shown for column in Table("", "", Row, []).columns]}]
    kept_numbers.check("honesty", tables)
