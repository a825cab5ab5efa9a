"""The tables of exact edits and of steering, on steps whose sums are done by hand."""

from math import log
from types import SimpleNamespace

import pytest
from convergebench.spaces_app.studies.exact.statistics import exact_edits, steering


def chain_of(scene, category="exact edits", cost=0.5):
    source = SimpleNamespace(id=scene, scene="2 things, plain")
    program = SimpleNamespace(id=f"{scene}-move", category=category)
    made = SimpleNamespace(id=scene, source=source, program=program, suite="x", cost=cost, editor="one")
    made.chain = made  # a finished chain holds the one that was asked for
    return made


def step(chain, number=1, position=None, edit_changed=None, **values):
    about = {"chain": chain.id, "step": number, "position": position, "round": 1, "edit_changed": edit_changed}
    return SimpleNamespace(**about, value=values.get)


def test_an_edit_and_its_undo_are_counted_apart():
    chains = [chain_of("a"), chain_of("b")]
    answers = [  # chain, position, as asked, the start was right, the whole picture, the rule says changed
        (0, 1, True, 0.9, False, True),
        (0, 2, False, 0.9, True, False),
        (1, 1, True, 0.2, True, True),
        (1, 1, False, 0.85, False, True),
        (1, 1, False, 0.84, False, False),
        (1, 2, True, 0.9, True, True),
    ]
    rows = [
        step(
            chains[chain], position=position, exact_as_asked=asked, exact_start=start, exact_match=match,
            exact_iou=0.5 + chain / 4, exact_elsewhere=0.1, exact_protected=chain * 0.2, edit_changed=changed,
        )
        for chain, position, asked, start, match, changed in answers
    ]  # fmt: skip
    scores = SimpleNamespace(with_any=lambda columns: rows)
    made = {row.what: row for row in exact_edits.rows(SimpleNamespace(chains=chains, scores=scores))}
    assert {what: (row.part, row.steps, row.scenes) for what, row in made.items()} == {
        "all": ("all", 6, 2), "round": ("1", 6, 2), "operation": ("move", 6, 2),
        "things and likeness": ("2 things", 6, 2), "ground": ("plain", 6, 2),
    }  # fmt: skip
    row = made["all"]
    shares = (row.forward.value, row.ready.value, row.back.value, row.whole, row.said_of_right, row.said_of_wrong)
    # A scene's steps are averaged first. As asked: 1 and 1/3; from a right start 1 and 0; taken back 0 and 1.
    assert shares == pytest.approx((2 / 3, 0.5, 0.5, 1.0, 1.0, 0.5))
    assert (row.agreement, row.elsewhere, row.protected) == pytest.approx((0.625, 0.1, 0.1))


def test_steering_counts_arrivals_their_corrections_and_what_a_correction_does():
    walks = {  # distances before and after each correction; whether it arrived; damage at the end
        "a": ([(8.0, 4.0), (4.0, 1.0)], True, 0.0),
        "b": ([(8.0, 8.0), (8.0, 16.0), (2.0, 0.5)], False, 0.9),
        "c": ([(8.0, 0.0)], True, None),
        "d": ([(None, 1.0), (4.0, None)], False, None),
    }
    cases, scores = [], {}
    for number, (scene, (distances, arrived, damage)) in enumerate(walks.items()):
        chain = chain_of(scene, "steering", cost=number + 1.0)
        cases.append(SimpleNamespace(chain=chain, source=scene, program=f"steer-{scene}-lighter"))
        scores[chain.id] = steps = []
        for place, (before, after) in enumerate(distances, 1):
            values = {"steer_before": before, "steer_distance": after, "steer_damage": damage}
            steps.append(step(chain, place, **values, steer_arrived=arrived and place == len(distances)))
    table = SimpleNamespace(of_chains=lambda wanted: scores)
    every, one_goal = steering.rows(SimpleNamespace(cases=cases, scores=table))
    assert (every.goal, one_goal.goal) == ("all", "lighter")
    assert (every.arrived.value, every.corrections, every.damaged, every.cost) == (0.5, 1.5, 0.5, 2.0)
    # Factors 1/2, 1/4, 1, 2 and 0.05/8; what began within two tolerances does not count.
    assert every.factor == pytest.approx(0.5)
    assert (every.chains, every.scenes) == (4, 4)
    assert steering._factor(scores["c"][0]) == pytest.approx(log(0.05 / 8))
