"""What the report makes of judges' answers: what they are worth, additions, and self-evaluation."""

import json
from dataclasses import replace
from itertools import product

import kept_numbers
import numpy as np
import pytest
import scored
from convergebench.dataset_builder.studies.labels.labels import QUESTIONS, Label
from convergebench.generation.records import Chain, FinishedChain, Program, Source
from convergebench.metric_modules._judges import drift
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.reporting.sentences import page_sentences
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.judges.answers import _kappa, judged_steps
from convergebench.spaces_app.studies.judges.statistics import judges
from test_kept_numbers import disc

ADDED = "Add one apple to the table."
APPLES = Program("add-apples", (ADDED,), "additions", False, "clear", shows="one more apple")
REPLICATE = Program("replicate", ("Produce an exact replica.",), "replication", True, "exact")


def chain(program=APPLES, editor="draws", source="table", run=1, rounds=6, status="complete", calls=None):
    where = Source(source, "0" * 64, 64, 64, "scene", "real", "CC0-1.0", "nobody")
    made = Chain(where, program, editor, {"short_side": 64}, run, rounds)
    return FinishedChain(made.id, made, "test", "1", status, rounds if calls is None else calls, None)


def place(of):
    where = {"chain": of.id, "editor": of.editor, "source": of.source.id}
    return where | {"program": of.program.id, "run": of.run}


def scores(of, **columns):
    """A row for each answered step."""
    about = place(of) | {"position": 1, "status": "ok", "reasons": "{}", "signature": "{}"}
    return [about | {"step": step, "round": step} | columns for step in range(1, of.calls + 1)]


def answer(of, step, question, value, said=None, **other):
    rule = question == "edit_applied"
    row = {"step": step, "judge": "seer", "question": question, "title": f"{question}?", "question_sha256": "aa"}
    row |= {"labelled_as": "applied=yes" if rule else None, "compared_with": "edit_changed" if rule else None}
    row |= {"purpose": "dataset", "session": 1, "repeat": 1, "key": f"{of.id}-{step}", "model": "m", "cost": 0.01}
    row |= {"value": value, "answer": said and json.dumps(said), "reason": "refused" if value is None else None}
    return {**place(of), **row, "asked": "2026-11-19T00:00:00", **other}


def analysis(chains, rows, judgements=(), labels=()):
    return Analysis(rows, chains, tables={"judgements": judgements, "labels": labels})


# What a judge is worth


def test_a_judge_is_compared_with_most_people():
    """It is wrong where most counted four; people who cannot tell say nothing."""
    one = chain()
    steps = (1, 2, 3, 4, 5)
    said = [answer(one, step, "object_count", float(step), labelled_as="count=number") for step in steps]
    labels = []
    for step, given in enumerate(("1 1", "2 3", "4 4 3", "unclear unclear", "5"), 1):
        for rater, word in zip("abc", given.split(), strict=False):
            labels.append(Label(rater=rater, question="count", answer=word, chain=one.id, step=step))
    [row] = judges.rows(analysis([one], scores(one), said, labels=labels))
    assert (row.people.value, row.people_pairs) == (2 / 3, 3)


def test_a_judge_that_drifted_is_an_alarm_on_the_page():
    """Of two runs over a sample so many items are answered otherwise in the second."""
    chains = [chain(run=run) for run in range(1, drift.SAMPLE + 1)]
    rows = [row for each in chains for row in scores(each, edit_changed=True)]
    for moved, alarmed in ((0, False), (8, True)):
        said = []
        for (number, of), session, repeat in product(enumerate(chains), (1, 2), range(1, drift.REPEATS + 1)):
            value = float((number % 2) ^ (session == 2 and number < moved))
            when = {"session": session, "repeat": repeat, "model": f"m-{session}"}
            said.append(answer(of, 1, "edit_applied", value, purpose="calibration", **when))
        made = compute_tables(analysis(chains, rows, said))
        lead = page_sentences(made)["lead"]
        assert any(line.startswith("ALARM: seer on edit_applied, run 2") for line in lead) is alarmed
        [row] = made["judges"].rows
        assert ("ALARM in run 2" in row["drift"], "another model name" in row["drift"]) == (alarmed, not alarmed)


def test_earlier_wordings_and_missing_chains_are_left_out():
    one = chain()
    gone = answer(chain(run=2), 1, "edit_applied", 1.0, question_sha256="new", asked="2026-02-01T00:00:00")
    old = answer(one, 1, "edit_applied", 1.0, question_sha256="old", asked="2026-01-01T00:00:00")
    new = answer(one, 1, "edit_applied", 0.0, question_sha256="new", asked="2026-02-01T00:00:00")
    steps = judged_steps(analysis([one], [], [old, new, gone]))["seer", "edit_applied"]
    assert {step: row["value"] for step, row in steps.items()} == {(one.id, 1): 0.0}


def test_kappa_is_that_of_cohens_own_table():
    pairs = [(1, 1)] * 88 + [(1, 2)] * 14 + [(1, 3)] * 18 + [(2, 1)] * 10 + [(2, 2)] * 40 + [(2, 3)] * 10
    pairs += [(3, 1)] * 2 + [(3, 2)] * 6 + [(3, 3)] * 12
    assert _kappa(pairs) == pytest.approx(0.492, abs=5e-4)


# LPIPS outside the additions


@pytest.fixture(scope="module")
def background():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    import random_lpips
    from convergebench.metric_modules.background import measure

    return measure.Scorer("cpu", "float32", {}, loaded=(random_lpips.random_tensors("alex"), "random"))


def judged(scorer, pictures, closes=False):
    """The values of the last picture's step."""
    kept = [scorer.reduce(each) for each in pictures]
    program = {"closes": closes, "earlier": kept[:-2]}
    return scorer.judge(program, 1, kept[-2:], scorer.prepare(pictures[0]))


def test_an_addition_alone_leaves_the_background_as_it_was(background):
    first = scored.picture(0, (192, 192))
    second = disc(first, (200, 20, 30), (0.3, 0.25), 0.1)
    third = disc(second, (20, 180, 40), (0.6, 0.7), 0.1)
    clean = judged(background, [first, second, third])
    worn = judged(background, [first, second, scored.worn(third, 25)])
    assert 0.8 < clean["background_share"] < 0.97
    assert clean["background_lpips"] < 0.01 * worn["background_lpips"]
    assert judged(background, [first, first], closes=True)["background_lpips"] == "not_an_addition"
    kept = [background.reduce(first)] * 2
    found = background.judge({"closes": False, "earlier": [None]}, 1, kept, background.prepare(first))
    assert found == dict.fromkeys(("background_lpips", "background_share"), "step_missing")
    tiles = np.random.default_rng(3).integers(0, 2, (12, 12, 3), dtype=np.uint8) * 255
    covered = np.kron(tiles, np.ones((16, 16, 1), np.uint8))  # nothing that a change of light explains
    assert judged(background, [first, covered])["background_lpips"][0] == "covered"


# Infidelity


PEOPLE = ("anna", "ben", "carla")
HAT = Program("hat", ("add a hat", "remove the hat"), "accessories", True, "clear", shows="a hat")
PAIRS = replace(APPLES, id="add-two", cycle=("Add an apple.", "Add a pear."))
RESTORE = Program("restore-s1", ("Restore the picture.",), "restoration", True, "partial")
ROUNDS = {APPLES: 22, PAIRS: 2, REPLICATE: 4, HAT: 4}
ROUNDS |= {replace(HAT, id=f"hat~m-{number}"): 4 for number in (1, 2)}
ROUNDS |= {replace(RESTORE, id=f"restore-{name}"): 1 for name in ("s1", "s2", "l1", "sf1", "lf1")}


def untidy():
    """Answers of two judges and three people about edits of all kinds, with gaps, ties and chains that ended."""
    rng, chains, rows, said, labels = np.random.default_rng(4), [], [], [], []
    editors = ("draws", "adds", "rare", "identity")
    for (program, rounds), editor, number in product(ROUNDS.items(), editors, range(6)):
        if rng.random() < 0.12 or (editor == "rare" and number > 1):
            continue
        steps = rounds * len(program.cycle)
        calls = steps if rng.random() < 0.85 else int(rng.integers(0, steps))
        status = "complete" if calls == steps else "refused" if calls else "failed"
        one = chain(program, editor, f"table {number % 4}~blur", 1 + number // 4, rounds, status, calls)
        if rng.random() < 0.06:
            one = replace(one, chain=replace(one.chain, settings={"audit": "noise"}))
        chains.append(one)
        kept = 1 - rng.gamma(2, 0.04) * np.arange(steps + 1)
        for step in range(calls + 1):
            yes = [bool(mark) for mark in rng.random(6) > 0.25]
            count, kind = 2 + step + int(rng.choice((-1, 0, 0, 0, 1))), str(rng.choice(("inserted", "distorted")))
            there = [other for other in range(1, step + 1) if rng.random() > 0.03]
            places = [{"what": "a cup", "where": str(where)} for where in rng.choice([*"abcdef"], 3)]
            questions = {"object_count": (count, {"count": count})}
            questions["self_evaluation"] = (float(step % 7 == 4), "yes")
            questions |= {"additions_there": (len(there) / max(1, step), {"there": there})} if step else {}
            questions["edit_applied"] = (float(yes[0]), {"applied": yes[0]})
            questions |= {"edit_undone": (float(yes[1]), {})}
            questions |= {"anything_else": (float(yes[2]), {"changed": yes[2], "changes": places})}
            questions |= {"infidelity": (float(yes[3]), {"kind": kind}), "over_generation": (float(yes[4]), {})}
            for judge, (question, (value, words)) in product(("seer", "critic"), questions.items()):
                if rng.random() < 0.6 and number != 5:
                    value = None if rng.random() < 0.05 else value
                    about = {"judge": judge, "model": f"m{number}", "cost": 0.01 if judge == "seer" else None}
                    said.append(answer(one, step, question, value, words, **about))
                    about |= {"purpose": "calibration", "session": 1 + (number > 3)}
                    for repeat in (1, 2) if step < 2 else ():
                        said.append(answer(one, step, question, float(yes[3 + repeat]), **about, repeat=repeat))
            for rater, question in product(PEOPLE, ("failure", "rating", "applied", "else", "count")):
                codes = [code.code for code in QUESTIONS[question].answers]
                codes = [str(count), *codes] if question == "count" else codes
                weights = np.array([3, *[1] * (len(codes) - 1)]) / (len(codes) + 2)
                if rng.random() < 0.4 and step in (0, 1, 4, calls) and (question, number) != ("count", 5):
                    word = str(rng.choice(codes, p=weights))
                    labels.append(Label(rater=rater, question=question, answer=word, chain=one.id, step=step))
            if step:
                row = place(one) | {"step": step, "round": (step - 1) // len(program.cycle) + 1, "status": "ok"}
                row |= {"position": (step - 1) % len(program.cycle) + 1, "reasons": "{}", "signature": "{}"}
                level = float(np.clip(kept[step] + rng.normal(0, 0.05), 0, 1))
                values = {"edit_changed": yes[0], "edit_undone": yes[5], "lpips": 0.8 - 0.8 * level}
                values |= {"psnr": 20 + level, "background_lpips": 0.5 - level / 2}
                values |= {"retained_lpips": level, "retained_rmse": level**2}
                rows.append(row | {name: None if rng.random() < 0.04 else each for name, each in values.items()})
    for left, right in zip(chains, chains[1:] + chains[:1], strict=True):
        for rater in ("anna", "ben"):
            word, other = str(rng.choice(("first", "second", "same"))), {"other_chain": right.id, "other_step": 1}
            labels.append(Label(rater=rater, question="pair", answer=word, chain=left.id, step=1, **other))
    gone = Label(rater="anna", question="rating", answer="1", chain="f" * 16, step=1)
    tables = {"judgements": said, "labels": [*labels, gone]}
    return Analysis(rows, chains, roles={"identity": "baseline"}, tables=tables)


def test_the_numbers_of_every_table():
    tables = compute_tables(untidy())
    kept_numbers.check_study("judged", tables, "additions", "judges", "labels", "restoration")
    assert {row["ended"] for row in tables["additions"].rows} == {"1 failed", "1 refused", None}
    assert {row["without"].split()[1] for row in tables["judges"].rows} == {"refused"}
    assert {row["drift"] for row in tables["judges"].rows} == {judges.ONE_RUN}
    assert "all sources" in {row["source"] for row in tables["self_evaluation"].rows}
