"""The report on scores with a known truth: who is better, who ties, and what can never help."""

import csv
import io
import json
import math
import warnings

import kept_numbers
import pytest
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.spaces_app.analysis import tables
from convergebench.spaces_app.palette import BASELINE_MARKER, MUTED, Look
from convergebench.spaces_app.reporting.figures import draw_lines, new_figure
from convergebench.spaces_app.reporting.sentences import methods_paragraph, page_sentences
from convergebench.spaces_app.statistics.curves import CurveRow
from simulated import FLOORS, chain_row, dataset, end_chain, floor_rows, report, score_rows

EDITORS = {"better": 1.8, "equal-one": 1.0, "equal-two": 1.0}


@pytest.fixture(scope="module")
def golden():
    return report(*dataset(EDITORS | {"identity": 0.01}, sources=20, missing={"equal-two": 0.4}, seed=3))


def board(made, group="round trips"):
    return {row["editor"]: row for row in made.tables["leaderboard"].rows if row["group"] == group}


def test_the_better_editor_ranks_first_and_wins_its_pairs(golden):
    ranks = {editor: (row["rank"], row["rank_low"], row["rank_high"]) for editor, row in board(golden).items()}
    equal = dict.fromkeys(("equal-one", "equal-two"), (2, 2, 3))
    assert ranks == {"better": (1, 1, 1), **equal, "identity": (None, None, None)}
    pairs = {frozenset((row["first"], row["second"])): row for row in golden.tables["pairs"].rows}
    assert pairs[frozenset(("better", "equal-one"))]["verdict"] == "better"
    assert pairs[frozenset(("better", "equal-two"))]["verdict"] == "better"
    one = pairs[frozenset(("equal-one", "equal-two"))]
    assert one["verdict"] == "open"
    assert one["cases"] + one["left_out"] == 60
    assert 10 < one["left_out"] < 35  # 40% of 60 are missing
    assert one["difference_low"] < 0 < one["difference_high"]


def test_a_pair_with_a_baseline_is_judged_by_its_own_p(golden):
    rows = [row for row in golden.tables["pairs"].rows if row["family"] == "no other pair"]
    assert {row["p_corrected"] for row in rows} == {None}
    scores, chains, floors = dataset(EDITORS | {"identity": 0.01}, sources=20, missing={"equal-two": 0.4}, seed=3)
    two = ("better", "identity")
    fewer = report(*([row for row in part if row["editor"] in two] for part in (scores, chains)), floors)
    [alone] = fewer.tables["pairs"].rows
    assert alone == next(row for row in rows if row["first"] == "better")


def test_causes_and_survivors_add_up_to_one(golden):
    for row in golden.tables["causes"].rows:
        assert sum(row[name] for name in row if name in CAUSES) + row["kept"] == pytest.approx(1)


@pytest.mark.parametrize("cause", ["not changed", "not undone", "quality lost"])
def test_the_cause_is_kept(cause):
    chain = chain_row("one", 1, 1, 12)
    made = report(score_rows(chain, 4, cause=cause), [chain], floor_rows(3))
    row = board(made)["one"]
    assert (row["rounds_kept"], row["cause"]) == (4, f"{cause} (1 of 1)")
    last = [row for row in made.tables["causes"].rows if row["round"] == 12]
    assert last[0][cause] == 1
    before = [row for row in made.tables["causes"].rows if row["round"] == 4]
    assert before[0][cause] == 0


def test_the_headline_says_what_was_not_checked():
    scores, chains, floors = dataset({"one": 1.0}, sources=4, clip=False)
    made = report(scores, chains, floors)
    assert board(made)["one"]["name"] == "convergence (no meaning check)"
    assert "retained clip" not in {row["metric"] for row in made.tables["curves"].rows}
    assert board(made)["one"].get("meaning_text") is None
    made = report([row | {"edit_changed": None, "edit_undone": None} for row in scores], chains, floors)
    assert board(made)["one"]["name"] == "convergence (no edit check, no meaning check)"


def facts_of(made):
    return {row["fact"]: row["value"] for row in made.tables["facts"].rows}


def without_clip(scores, *editors):
    return [row | {"clip": None, "retained_clip": None} if row["editor"] in editors else row for row in scores]


def test_an_editor_with_fewer_metrics_is_listed_apart():
    scores, chains, floors = dataset({"one": 1.6, "two": 1.0, "fewer": 3.0, "jpeg": 3.0}, sources=14)
    others = report(
        *([row for row in part if row["editor"] not in ("fewer", "jpeg")] for part in (scores, chains)), floors
    )
    made = report(without_clip(scores, "fewer", "jpeg"), chains, floors)
    rows = board(made)
    reason = "not checked, because its scores lack it: meaning by CLIP"
    assert {editor: row["role"] for editor, row in rows.items()} == {
        "one": "editors", "two": "editors", "fewer": "editors listed apart", "jpeg": "baselines"
    }  # fmt: skip
    assert [rows[editor]["apart"] for editor in ("one", "two", "fewer", "jpeg")] == [None, None, reason, reason]
    assert [rows[editor]["rank"] for editor in ("one", "two", "fewer", "jpeg")] == [1, 2, None, None]
    assert rows["fewer"]["name"] == "convergence (no meaning check)" != rows["one"]["name"] == "convergence"
    for editor in ("one", "two"):
        assert rows[editor] == board(others)[editor]
    # Checked for less, it is held against nobody.
    assert made.tables["pairs"].rows == others.tables["pairs"].rows
    assert f"fewer is listed apart, without a rank: {reason}." in page_sentences(made.tables)["round trips"]


def test_a_metric_of_a_minority_is_checked_for_none():
    scores, chains, floors = dataset({"one": 1.0, "two": 1.0, "three": 1.0}, sources=4)
    made = report(without_clip(scores, "two", "three"), chains, floors)
    assert {row["name"] for row in made.tables["leaderboard"].rows} == {"convergence (no meaning check)"}
    assert facts_of(made)["round trips: checks that only some editors have"] == "clip"
    assert {row["role"] for row in made.tables["leaderboard"].rows} == {"editors"}


def test_an_editor_that_never_answers_is_ranked_last():
    scores, chains, floors = dataset({"one": 1.0}, sources=14)
    refused = [chain_row("silent", source, 0, 12, "refused", steps=1) for source in range(14)]
    for chain in refused:
        scores += end_chain(chain, score_rows(chain, 12), 1, 1)[1]
    made = report(scores, [*chains, *refused], floors)
    assert {editor: row["rank"] for editor, row in board(made).items()} == {"one": 1, "silent": 2}
    assert board(made)["one"]["name"] == "convergence"


def test_fewer_than_twelve_pictures_give_no_rank():
    made = report(*dataset({"one": 3.0, "two": 0.3}, sources=11))
    assert [row["rank"] for row in made.tables["leaderboard"].rows] == [None, None]
    assert {row["verdict"] for row in made.tables["pairs"].rows} == {"indicative"}


def test_an_unmeasured_return_makes_its_case_missing():
    chain = chain_row("one", 1, 1, 12)
    scores = score_rows(chain, 12)
    for row in scores[-4:]:
        row |= {"lpips": None, "retained_lpips": None}
    others = chain_row("one", 2, 1, 12)
    made = report([*scores, *score_rows(others, 12)], [chain, others], floor_rows(4))
    assert board(made)["one"]["failed"] == 0.5
    assert made.analysis.outcomes["round trips"]["one"][0].lost is False


def test_an_edit_nobody_can_judge_leaves_the_other_checks():
    chains, scores = [], []
    for source, (kept, code) in enumerate(((12, "symmetric"), (4, "symmetric"), (12, "symmetric"), (12, ""))):
        chain = chain_row("one", source, 1, 12)
        own = score_rows(chain, kept)
        for row in own if code else []:
            column = "edit_changed" if row["position"] == 1 else "edit_undone"
            row |= {column: None, "reasons": json.dumps({column: code})}
        if source == 2:
            chain, own = end_chain(chain, own, 3, status="failed")
        chains.append(chain)
        scores += own
    audited = chain_row("one", 5, 1, 12, settings='{"audit": "marks"}')
    adds = chain_row("one", 6, 1, 12, closes=False)
    chains += [audited, adds, chain_row("one", 7, 1, 12)]  # of the last there are no scores
    scores += score_rows(audited, 12) + score_rows(adds, 12)
    made = report(scores, chains, floor_rows(8))
    cases = made.analysis.groups["round trips"].cases["one"]
    assert [case.changed is None for case in sorted(cases, key=lambda case: case.source)] == [True] * 3 + [False]
    rows = sorted(made.tables["cases"].rows, key=lambda row: row["source"])
    assert [(row["kept"], row["lost_at"], row["cause"], row["missing"]) for row in rows] == [
        (12, None, None, None), (4, 5, "quality lost", None),
        (2, 3, "technical failure", "a call failed"), (12, None, None, None)
    ]  # fmt: skip
    assert rows[0]["not_judged"] == "not changed: symmetric; not undone: symmetric"
    assert rows[1]["retained_rmse"] < 0.5 < rows[0]["retained_rmse"]
    assert (rows[1]["changed"], rows[3]["changed"], rows[3]["undone"]) == (None, "yes", "yes")
    facts = facts_of(made)
    ends = [facts[f"cases {end}"] for end in ("kept", "lost", "missing")]
    left_out = {name: value for name, value in facts.items() if name.startswith("left out: ")}
    assert ends == [2, 1, 1]
    assert [*left_out.values()] == [1, 0, 0, 1]
    assert facts["counted as additions"] == 1
    assert facts["chains generated"] == sum(ends) + 1 + sum(left_out.values()) == len(chains)
    assert facts["edit check left out, symmetric"] == 3
    assert (
        "7 chains generated = 2 kept + 1 lost + 1 missing + 1 counted as additions + 1 left out (under recall audit) + "
        "1 left out (count twice or have no scores); edits that could not be judged, so the other checks decide: 3 "
        "(the picture looks too much like itself after the transform to tell)"
    ) in methods_paragraph(made.tables)


def test_the_same_case_from_two_datasets_counts_once():
    scores, chains, floors = dataset({"one": 1.0}, sources=4)
    again = [[row | {"chain": "f" + row["chain"][1:]} for row in rows] for rows in (scores, chains)]
    made = report([*scores, *again[0]], [*chains, *again[1]], floors)
    assert board(made)["one"]["cases"] == len(chains)
    assert facts_of(made)["chains that count twice or have no scores"] == len(chains)


def test_chains_are_compared_up_to_the_shorter_plan():
    scores, chains, floors = dataset({"long": 50.0}, sources=14, rounds=12)
    more = dataset({"short": 50.0}, sources=14, rounds=6)
    made = report([*scores, *more[0]], [*chains, *more[1]], floors)
    [pair] = made.tables["pairs"].rows
    assert (pair["difference"], pair["verdict"]) == (0.0, "open")


def test_tables_say_the_same_in_every_format(golden):
    for made in golden.tables.values():
        lines = list(csv.DictReader(io.StringIO(tables.as_csv(made))))
        rows = json.loads(tables.as_json(made))["rows"]
        assert len(lines) == len(rows) == len(made.rows)
        for line, row in zip(lines, rows, strict=True):
            assert line == {key: "" if value is None else str(value) for key, value in row.items()}
        latex = tables.as_latex(made)
        assert latex.count(r"\\") == len(rows) + 1
        assert max(latex) < "\u0180", "LaTeX stops at signs of other scripts"
        assert [latex.count(rule) for rule in ("\\toprule", "\\midrule", "\\bottomrule")] == [1, 1, 1]


def test_names_that_mean_something_to_latex_stay_text():
    made = report(*dataset({"50%_of {$x$} & \\co": 1.0}, sources=4))
    assert r"50\%\_of \{\$x\$\} \& \textbackslash{}co" in tables.as_latex(made.tables["leaderboard"])


def moved(scores, round, quality, framing):
    """The same scores where every picture lies elsewhere from one round on: as it is, and registered."""
    changed = []
    for row in scores:
        if row["round"] < round:
            changed.append(row)
            continue
        low = {f"retained_{name}": 0.2 for name in ("rmse", "ssim")}
        rmse = FLOORS["rmse"] * (1 - quality)
        laid = {
            "psnr_registered": 20 * math.log10(255 / rmse),
            "ssim_registered": 1 - (1 - quality) * (1 - FLOORS["ssim"]),
        }
        changed.append(row | low | laid | {"framing_loss": framing})
    return changed


def test_a_shift_is_a_loss_of_framing_only_if_asked():
    scores, chains, floors = dataset({"still": 12.0}, sources=4, programs=1)
    scores = [row | {"damage": 0.0} for row in scores]
    for row in scores:
        row |= {f"retained_{name}": 0.9 for name in FLOORS}
        row |= {"edit_changed": True} if row["position"] == 1 else {"edit_undone": True}
    shifted = moved(scores, 5, 0.8, 0.07)

    def row_of(scores, **options):
        return board(report(scores, chains, floors, **options))["still"]

    assert row_of(shifted)["rounds_kept"] == 12
    assert row_of(shifted, framing=0.1)["rounds_kept"] == 12
    lost = row_of(shifted, framing=0.05)
    assert (lost["rounds_kept"], lost["cause"]) == (4, "framing lost (4 of 4)")
    broken = row_of(moved(scores, 5, 0.3, 0.07))
    assert (broken["rounds_kept"], broken["cause"]) == (4, "quality lost (4 of 4)")
    assert report(shifted, chains, floors).tables["cases"].rows[0]["framing"] == 0.07


def test_the_area_counts_nothing_after_a_refusal():
    scores, chains, floors = dataset({"one": 12.0}, sources=4, programs=1)
    for row in scores:
        row |= {f"retained_{name}": 0.9 for name in FLOORS}
    assert board(report(scores, chains, floors))["one"]["area"] == pytest.approx(0.9)
    by_chain = {chain["chain"]: [row for row in scores if row["chain"] == chain["chain"]] for chain in chains}
    ended = [end_chain(chain, by_chain[chain["chain"]], 7) for chain in chains]
    made = report([row for _, rows in ended for row in rows], [chain for chain, _ in ended], floors)
    row = board(made)["one"]
    assert row["area"] == pytest.approx(0.9 / 2)
    assert row["area_low"] <= row["area"] <= row["area_high"]


def test_a_figure_of_one_round_is_drawn_without_warning():
    figure, axes = new_figure()
    place = {"group": "round trips", "slice": "all", "editor": "a", "metric": "quality", "round": 1, "on": "own"}
    row = CurveRow(**place, mean=tables.Estimate(0.8, 0.7, 0.9), median=0.8, cases=4, sources=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_lines(axes[0, 0], [row], {"a": Look(MUTED, BASELINE_MARKER, "-", 1.5, True, 0)})
        figure.savefig(io.BytesIO())
    assert axes[0, 0].get_xlim() == (0.5, 1.5)


def test_the_numbers_of_every_table(golden):
    tables = golden.tables
    kept_numbers.check("golden", kept_numbers.rows_of(tables))
    shown = {name: [column.shown for column in table.columns] for name, table in tables.items()}
    kept_numbers.check("columns", {"shown": [shown]})
