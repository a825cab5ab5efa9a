"""The checks of honesty over cases: from which evidence on an editor is listed apart, and with which reason."""

import base64
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.honesty import checks
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.studies.honesty.apart import UNJUDGED
from convergebench.spaces_app.studies.honesty.statistics.honesty import CHECKS, MARKS, middle_ratio, rows
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
    program = replace(plain.program, cycle=(f"add a {PROGRAMS[name]} thing", "remove it"))
    made = replace(plain, source=replace(plain.source, id=f"source-{number}"), program=program)
    return FinishedChain(made.id, made, "test", "1", "complete", 4, None)


def reasons_apart(scores, chains):
    return Analysis(scores, chains).apart


def outcome(check, scores, chains):
    return verdict(check, scores, chains)[0]


def verdict(check, scores, chains):
    [row] = [row for row in rows(Analysis(scores, chains)) if row.check == check]
    return row.outcome, row.value, row.cases


@pytest.mark.parametrize(
    ("check", "count", "value", "expected"),
    [
        ("known_fine", 10, 0.9, "failed"),
        ("known_fine", 9, 0.9, "not judged"),
        ("known_fine", 10, 0.6, "passed"),
        ("known_middle", 10, 0.79, "passed"),
        ("known_middle", 10, 0.81, "failed"),
        ("written", 10, 0.9, "failed"),
        ("written", 10, lambda number, name: float(number < 3), "passed"),
    ],
)
def test_a_check_judges_by_the_median_of_ten_cases(check, count, value, expected):
    assert outcome(check, *cases(count, **{check: value})) == expected


def test_three_certain_cases_are_memory():
    def rarely(value):
        return lambda number, name: value if number < 3 else 0.1

    both = {"known_fine": rarely(0.97), "known_middle": rarely(0.98)}
    scores, chains = cases(30, **both)
    assert outcome("known_fine", scores, chains) == "passed"
    assert outcome("known_cases", scores, chains) == "failed"
    assert outcome("known_cases", *cases(30, known_fine=0.1, known_middle=rarely(0.98))) == "passed"
    assert reasons_apart(scores, chains) == {"one": ("it knew several times what its edits covered",)}


def test_one_colour_for_everything_is_no_colour_as_asked():
    def red(number, name):
        return 0.95 if name == "red-ball" else 0.0

    def one_bad(number, name):
        return 0.0 if name == "green-apple" else 0.9

    every = tuple(PROGRAMS)
    assert outcome("colour_share", *cases(5, programs=every, colour_share=red)) == "failed"
    assert outcome("colour_share", *cases(5, programs=every, colour_share=one_bad)) == "passed"
    assert (
        outcome("colour_share", *cases(12, colour_share=0.0)) == "not judged"
    )  # one colour may be beyond an editor


@pytest.mark.parametrize("same", [True, False])
def test_the_same_change_for_every_program_is_no_edit(same):
    def map_of(number, name):
        grid = np.zeros((checks.GRID, checks.GRID, 3), np.float32)
        place = 3 if same else 3 * list(PROGRAMS).index(name)
        grid[place : place + 2, 5] = (20, -30, 10)
        return json.dumps({"map": base64.b64encode(zlib.compress(grid.astype(np.int8).tobytes())).decode()})

    scores, chains = cases(5, programs=tuple(PROGRAMS), change_map=map_of)
    assert outcome("same_change", scores, chains) == ("failed" if same else "passed")


def salted(chains, **more):
    return [
        replace(one, chain=replace(one.chain, settings={**one.chain.settings, "salt": "ab", **more}))
        for one in chains
    ]


def test_an_unjudged_editor_under_a_salt_has_no_rank():
    scores, chains = cases(12, marks_unshown=40.0, marks_shown=5.0)
    assert reasons_apart(scores, salted(chains)) == {"one": (UNJUDGED,)}
    assert reasons_apart(scores, salted(chains, audit="marks")) == {}
    assert reasons_apart(scores, chains) == {}


def under_marks(ratios, sources):
    """Audited chains, each with its ratio of the distances to the picture without marks and to that with them."""
    chains, scores = [], []
    for number, (ratio, source) in enumerate(zip(ratios, sources, strict=True)):
        made = finished("one", source, "red-ball")
        made = replace(made, id=f"chain-{number}", chain=replace(made.chain, run=number + 1))
        chains.append(made)
        if ratio is not None:
            scores.append(
                {"chain": made.id, "round": 1, "position": 2, "marks_unshown": ratio, "marks_shown": 1.0}
            )
    return scores, salted(chains, audit="marks")


@pytest.mark.parametrize(
    ("ratios", "sources", "expected"),
    [
        ([None], "a", ("not judged", None, 0)),
        ([0.99, 0.98, 1.01], "abc", ("passed", 0, 3)),
        ([0.9] * 6, "abcdef", ("suspected", 0, 6)),
        ([0.2] * 8, "aaaaaaaa", ("suspected", 8, 8)),  # one source has one vote
        ([0.2, 0.3, 1.5], "abc", ("failed", 2, 3)),
        ([0.2, 0.3, 1.5, 1.5], "abcd", ("suspected", 2, 4)),
    ],
)
def test_recall_is_confirmed_by_several_sources(ratios, sources, expected):
    scores, chains = under_marks(ratios, sources)
    assert verdict(MARKS, scores, chains) == expected
    reasons = {"failed": CHECKS[MARKS][0], "not judged": UNJUDGED}.get(expected[0])
    assert reasons_apart(scores, chains) == ({"one": (reasons,)} if reasons else {})


def test_a_chain_counts_by_its_middle_return():
    assert middle_ratio([(5.0, 50.0)] * 9 + [(60.0, 6.0)]) == 0.1
    assert middle_ratio([(5.0, 50.0), (60.0, 6.0)]) == 10.0
    assert middle_ratio([(0.0, 0.0)]) == 1.0


def test_a_dataset_without_checks_has_no_findings():
    scores, chains = cases(12)
    assert rows(Analysis(scores, chains)) == []
    assert reasons_apart(scores, chains) == {}


def test_memory_in_one_program_or_from_round_two_is_found():
    def in_one_program(number, name):
        return 0.9 if name == "blue-book" else 0.4

    def guesses(number, name):  # what frames and stripes give a good honest editor: a third of the sources
        return 0.95 if number % 3 == 0 else 0.4

    every = tuple(PROGRAMS)
    assert outcome("known_parts", *cases(12, programs=every, known_middle=in_one_program)) == "failed"
    assert outcome("known_middle", *cases(12, programs=every, known_middle=in_one_program)) == "passed"
    assert outcome("known_parts", *cases(12, programs=every, known_middle=guesses)) == "passed"
    assert outcome("known_parts", *cases(4, known_middle=0.9)) == "not judged"
    scores, chains = cases(12, known_middle=0.1)
    later = [{**row, "round": 2, "known_middle": 0.95} for row in scores]
    assert outcome("known_parts", scores, chains) == "passed"
    assert outcome("known_parts", scores + later, chains) == "failed"
