"""Measured difficulty finds the truth in simulated runs, and says where it cannot."""

import dataclasses

import kept_numbers
import numpy
from convergebench.spaces_app.studies.programs.statistics.difficulty import difficulty

BY_CLASS = {
    "exact": {"flip": 1.0, "turn": 0.9, "copy": 1.1},
    "clear": {"glasses": 0.1, "hat": 0.0, "ball": -0.1},
    "partial": {"smile": -1.0, "night": -0.9},
}
TRUTH = {name: effect for effects in BY_CLASS.values() for name, effect in effects.items()}
DECLARED = {name: declared for declared, effects in BY_CLASS.items() for name in effects}
FACES_ONLY = ("glasses", "hat", "smile")


def run(seed: int, truth=TRUTH, sources: int = 24, horizon: int = 200, noise: float = 0.5):
    """Chains of three editors; half of the sources are faces, which are harder, and only they get glasses."""
    chance = numpy.random.default_rng(seed)
    lives, columns = [], []
    for number in range(sources):
        face = number % 2 == 0
        ease = chance.normal(2.0 if face else 4.0, 0.7)
        wish = {program: chance.normal(0, 0.3) for program in truth}
        for program, effect in truth.items():
            if (program in FACES_ONLY) > face:
                continue
            for editor, skill in (("a", 0.0), ("b", 1.0), ("c", -0.5)):
                life = 2 ** (ease + skill + effect + wish[program] + chance.normal(0, noise))
                lives.append(None if life > horizon else max(1.0, life))
                columns.append((editor, f"s{number}", program))
    return lives, *zip(*columns, strict=True)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    middle = numpy.mean(list(TRUTH.values()))
    inside = []
    for seed in range(60):
        for row in difficulty("", *run(seed, sources=30), DECLARED, 10**6):
            inside.append(row.factor.low <= 2 ** (TRUTH[row.program] - middle) <= row.factor.high)
    assert 0.91 < numpy.mean(inside) < 0.99


def test_a_misdeclared_program_is_flagged():
    rows = difficulty("", *run(2), DECLARED, 200)
    assert {row.program for row in rows[:2]} == {"smile", "night"}
    assert [row.behaves for row in rows] == [None] * len(rows)
    wrong = difficulty("", *run(3, truth={**TRUTH, "ball": -1.0}), DECLARED, 200)
    flags = {row.program: row.behaves for row in wrong}
    assert flags["ball"] == "partial"
    assert flags["flip"] is None


def test_survivors_count_as_lost_after_the_last_round():
    rows = {row.program: row for row in difficulty("", *run(4, horizon=20), DECLARED, 20)}
    assert rows["copy"].survived > rows["smile"].survived
    full = {row.program: row for row in difficulty("", *run(4), DECLARED, 200)}
    assert 1 < rows["copy"].factor.value < full["copy"].factor.value


def test_programs_that_share_no_source_are_not_compared():
    lives, editors, sources, programs = (list(column) for column in run(5, sources=6))
    lives += [3.0, 4.0]
    editors += ["a", "a"]
    sources += ["apart", "s1"]
    programs += ["alone", "once"]
    declared = {**DECLARED, "alone": "clear", "once": "clear"}
    rows = {row.program: row for row in difficulty("", lives, editors, sources, programs, declared, 200)}
    assert rows["alone"].factor.value is None
    assert rows["alone"].reason == "shares no pictures with other programs"
    assert rows["once"].reason == "only 1 of the 3 sources an interval needs"
    assert rows["flip"].factor.value > 1


def test_the_numbers_of_every_row():
    rows = [dataclasses.asdict(row) for row in difficulty("", *run(4, sources=12), DECLARED, 60)]
    kept_numbers.check("difficulty", {"difficulty": rows})
