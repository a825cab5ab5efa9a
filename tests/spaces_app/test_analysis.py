"""Difficulty, on cases whose truth is known, and what tables write."""

import csv
import dataclasses
import io
import json
import tracemalloc
from dataclasses import replace

import kept_numbers
import numpy as np
import pytest
import stores
from convergebench.generation import editors, programs, suites
from convergebench.generation.plan import make_plan
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.scores import SCORES, ScoreRow
from convergebench.spaces_app.analysis import tables
from convergebench.spaces_app.analysis.program_groups import asks_for_edit, group_of_chain, program_groups
from convergebench.spaces_app.analysis.reasons import lost_places
from convergebench.spaces_app.analysis.tables import Estimate, Table, TableRow, column
from convergebench.spaces_app.studies.programs.statistics import difficulty
from simulated import dataset, report


def test_a_retained_column_says_what_it_measures():
    meanings = {column.name: column.meaning for column in SCORES.columns}
    assert meanings["retained_rmse"].startswith("retained quality by rmse: 1 ")
    assert meanings["retained_clip"].startswith("retained meaning by clip: 1 ")


def test_the_largest_part_that_was_lost_is_placed():
    small, large = [[0.8, 0.8], [0.9, 0.8], [0.9, 0.9]], [[0.1, 0.2], [0.5, 0.1], [0.6, 0.3], [0.2, 0.6]]
    row = ScoreRow.from_scores({"damage_outline": json.dumps({"polygons": [small, large]})})
    assert lost_places(row) == [(0.1, 0.1), (0.6, 0.6)]


def test_a_case_of_ten_rounds_takes_a_few_kilobytes():
    """250,000 of them have to fit into two gigabytes with their tables."""
    analysis = report(*dataset({"editor": 1.0}, sources=40, programs=3, rounds=10)).analysis
    del analysis.cases  # and again, now that what is computed once has been
    tracemalloc.start()
    taken = len(analysis.cases), tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken[0] == 120
    assert taken[1] / taken[0] < 3500


class Made(TableRow):
    a: object = column("A")
    b: Estimate = column("B", "number")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_formula_in_a_name_is_text_in_the_csv(name):
    table = Table("t", "T", Made, [Made(a=name, b=Estimate(-1.5))])
    [_, row] = csv.reader(io.StringIO(tables.as_csv(table), newline=""))
    assert row == [f"'{name}".replace("\r", " "), "-1.5", "", ""]
    assert json.loads(tables.as_json(table))["rows"][0]["a"] == name


def test_open_limits_and_missing_values_in_tables():
    life = tables.Column("life", "Life", interval=True)
    assert tables.format_cell({"life": "7", "life_low": 4, "life_high": None}, life) == "7 [4, …]"
    assert tables.format_cell({"life": ">10", "life_low": None, "life_high": None}, life) == ">10"
    assert tables.format_cell({"life": None}, life) == "–"
    table = Table("t", "T", Made, [Made(a="1", b=Estimate())])
    assert tables.as_csv(table) == "a,b,b_low,b_high\n1,,,\n"
    assert tables.as_text(table) == tables.as_text(table, ["a", "b"]) == "A\n1"


def test_latex_rules_stand_where_a_value_changes_and_p_values_and_foreign_letters_are_readable():
    made = Table("placed", "Placed", Made, [Made(a=role, b=Estimate()) for role in "aabb"])
    assert tables.as_latex(made, rule_where="a").count("\\midrule") == 2  # below the heading, and once
    assert tables.as_latex(made).count("\\midrule") == 1
    assert [tables.FORMS["p"](value) for value in (0.0009, 0.001, 0.0012)] == ["<0.001", "0.001", "0.001"]
    assert tables.latex_text("\u017f\u0180") == "\u017f[U+0180]"


# Difficulty in simulated runs

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
    chance = np.random.default_rng(seed)
    lives, columns = [], []
    for number in range(sources):
        face = number % 2 == 0
        ease = chance.normal(2.0 if face else 4.0, 0.7)
        wish = {program: chance.normal(0, 0.3) for program in truth}
        for program, effect in truth.items():
            if program in FACES_ONLY and not face:
                continue
            for editor, skill in (("a", 0.0), ("b", 1.0), ("c", -0.5)):
                life = 2 ** (ease + skill + effect + wish[program] + chance.normal(0, noise))
                lives.append(None if life > horizon else max(1.0, life))
                columns.append((editor, f"s{number}", program))
    return lives, *zip(*columns, strict=True)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    middle = np.mean(list(TRUTH.values()))
    inside = []
    for seed in range(60):
        for row in difficulty.difficulty("", *run(seed, sources=30), DECLARED, 10**6):
            inside.append(row.factor.low <= 2 ** (TRUTH[row.program] - middle) <= row.factor.high)
    assert 0.91 < np.mean(inside) < 0.99


def test_a_misdeclared_program_is_flagged():
    rows = difficulty.difficulty("", *run(2), DECLARED, 200)
    assert {row.program for row in rows[:2]} == {"smile", "night"}
    assert [row.behaves for row in rows] == [None] * len(rows)
    wrong = difficulty.difficulty("", *run(3, truth={**TRUTH, "ball": -1.0}), DECLARED, 200)
    flags = {row.program: row.behaves for row in wrong}
    assert flags["ball"] == "partial"
    assert flags["flip"] is None


def test_programs_that_share_no_source_are_not_compared():
    lives, editors, sources, programs = (list(column) for column in run(5, sources=6))
    lives += [3.0, 4.0]
    editors += ["a", "a"]
    sources += ["apart", "s1"]
    programs += ["alone", "once"]
    declared = {**DECLARED, "alone": "clear", "once": "clear"}
    rows = {
        row.program: row for row in difficulty.difficulty("", lives, editors, sources, programs, declared, 200)
    }
    assert rows["alone"].factor.value is None
    assert rows["alone"].reason == "shares no pictures with other programs"
    assert rows["once"].reason == "only 1 of the 3 sources an interval needs"
    assert difficulty._factor((0.0, 0.1), 3)[1] is None
    assert rows["flip"].factor.value > 1


def test_the_numbers_of_every_difficulty():
    rows = [dataclasses.asdict(row) for row in difficulty.difficulty("", *run(4, sources=12), DECLARED, 60)]
    kept_numbers.check("difficulty", {"difficulty": rows})


def test_a_chain_of_two_groups_belongs_to_the_studys():
    names = ("patches-edges-photograph", "monochrome-and-back")
    made = [replace(stores.chain(), program=programs.get(name)) for name in names]
    made += make_plan(suites.load("exact-mini"), [editors.choose("identity")]).chains
    chains = [FinishedChain(chain.id, chain, "exact-mini", "1", "complete", 1, None) for chain in made]
    assert [group_of_chain(chain) for chain in chains[:2]] == ["reconstruction", "round trips"]
    assert program_groups()["reconstruction"].counted
    assert {group_of_chain(chain) for chain in chains[2:] if asks_for_edit(chain)} == {"exact edits"}
    assert [name for name, group in program_groups().items() if group.asks_edits] == [
        "round trips",
        "exact edits",
    ]
