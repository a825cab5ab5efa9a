"""Restoration: the study's own tables out of its imported numbers, and what is known of simulated methods."""

from dataclasses import replace
from itertools import product

import kept_numbers
import numpy as np
import published_restoration as study
import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.records import Chain, FinishedChain, Program, Source
from convergebench.metric_modules.second_pass import measure as second_pass
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.restoration.restored import metric_title
from convergebench.spaces_app.studies.restoration.statistics.restoration_stability import _friedman
from scipy import stats
from verbs import say

METRICS = ("psnr", "ssim", "lpips", "musiq", "maniqa", "clipiqa")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The report's tables of a dataset with the study's tables beside it, imported by the command that a user has."""
    folder = small_dataset.write(tmp_path_factory.mktemp("restored"))
    nano = ["--column", "program=Prompt", "--editor", "Nano Banana 2"]
    published = {
        study.FOLDER / "prompts.csv": nano,
        study.write_repeated_runs(folder.parent / "runs.csv"): [*nano, "--column", "image=picture"],
        study.FOLDER / "methods.csv": ["--column", "editor=Method"],
        study.FOLDER / "scenes.csv": [],
    }
    for table, words in published.items():
        words = ["--layout", "scores", "--dataset", folder, "--restoration", *study.COLUMNS, *words]
        say("import", table, *words)
    return compute_tables(read_analysis(Reader(folder)))


def of_table(tables, name, table):
    return [row for row in tables[name].rows if row["table"] == table]


def test_published_means_equal_and_have_no_limits_or_p(tables):
    means = [row for row in of_table(tables, "restoration_prompts", "prompts.csv") if row["prompt"] == "mean"]
    rows = {row["group"]: row for row in means}
    off = []
    for group, values in study.MEANS.items():
        for metric, printed in zip(METRICS, values, strict=True):
            off.append(round(abs(round(rows[group][metric], 3) - printed), 6))
    assert len(off) == 36
    assert sum(each == 0 for each in off) >= 34
    assert max(off) <= 0.001
    assert not tables["published"].rows  # there are no rounds
    rows = of_table(tables, "restoration_prompts", "prompts.csv")
    assert len(rows) == 12 + 4 + 4
    assert not any(row.get("psnr_low") or row["pictures"] for row in rows)
    words = "S3 of Nano Banana 2 (prompts.csv) looks best by MUSIQ, MANIQA, CLIPIQA and is the least faithful by PSNR,"
    assert words in tables["restoration_prompts"].note
    effects = of_table(tables, "restoration_effects", "prompts.csv")
    longer = {row["metric"]: row["difference"] for row in effects if row["effect"] == "long against short"}
    assert all(value > 0 for value in longer.values())  # the study: long prompts are better in all six
    assert longer["LPIPS"] == pytest.approx(0.222 - 0.2213, abs=1e-3)
    assert {row["p_value"] for row in effects} == {row["pictures"] for row in effects} == {None}


def test_friedmans_p_equal_the_published_ones(tables):
    rows = of_table(tables, "restoration_stability", "runs.csv")
    found = {(row["prompt"], row["metric"]): row for row in rows}
    titles = [metric_title(metric) for metric in METRICS]
    for prompt, figures in study.TABLE_3.items():
        for title, statistic, p_value in zip(titles, figures["statistic"], figures["p"], strict=True):
            row = found[prompt, title]
            assert row["statistic"] == pytest.approx(statistic, abs=5e-4)
            assert row["p_value"] == pytest.approx(p_value, abs=5e-4)
            assert (row["runs"], row["pictures"]) == (3, 35 if title in titles[3:] else 21)
    assert len(found) == 24
    note = tables["restoration_stability"].note
    assert "2 of 24 tests have a chi-square p below 0.05; 1.2 would by chance" in note


def test_the_best_methods_and_scenes_are_as_published(tables):
    rows = {row["editor"]: row for row in of_table(tables, "restoration_methods", "methods.csv")}
    best_in = [rows[editor]["best_in"] for editor in ("Nano Banana 2", "PiSA-SR", "TSD-SR")]
    assert best_in == ["SSIM, LPIPS", "PSNR", "MUSIQ, MANIQA, CLIPIQA"]
    rows = {(row["slice"], row["editor"]): row for row in of_table(tables, "restoration_scenes", "scenes.csv")}
    assert len(rows) == 6
    assert (rows["Small Faces", "Nano Banana 2"]["psnr"], rows["Text", "HYPIR"]["lpips"]) == (23.809, 0.228)
    blurred = rows["Motion Blur", "HYPIR"]
    assert (blurred["musiq"], blurred.get("psnr")) == (47.633, None)
    assert not of_table(tables, "restoration_methods", "scenes.csv")  # a scene is no mean of all pictures


def test_friedman_agrees_with_scipy_on_ties():
    table = np.random.default_rng(21).integers(0, 6, (40, 5))
    assert _friedman(table) == pytest.approx(stats.friedmanchisquare(*table.T), abs=1e-10)
    assert _friedman(np.full((5, 3), 0.5)) == (0.0, 1.0)


# Simulated restorations of the dataset's own form


CLEAN, DEGRADATIONS = 14, ("motion-blur", "old-film")
PROMPTS = ("s1", "s2", "sf1", "sf2", "l1", "l2", "lf1", "lf2")
GAIN = {"s": 0.0, "sf": 1.0, "l": 0.5, "lf": 1.5}  # dB that each group of prompts adds


def simulated(methods, prompts=PROMPTS, rounds=1, runs=1, status="complete", seed=0):
    """Chains and scores: PSNR depends on the clean picture, the group of the prompt, the method and luck."""
    rng = np.random.default_rng(seed)
    chains, scores = [], []
    ease = rng.normal(0, 3, CLEAN)
    for clean, degradation in product(range(CLEAN), DEGRADATIONS):
        about = {"reference": f"clean {clean}", "scene": f"scene {clean % 3}"}
        place = (f"p{clean}~{degradation}", "0" * 64, 8, 8, "scene", "real", "CC0-1.0", "drawn")
        source = Source(*place, degradation=degradation, **about)
        for (method, bonus), prompt, run in product(methods.items(), prompts, range(1, runs + 1)):
            program = Program(f"restore-{prompt}", ("Restore the picture.",), "restoration", True, "partial")
            chain = Chain(source, program, method, {"short_side": 8}, run, rounds)
            chains.append(FinishedChain(chain.id, chain, "restoration", "1", status, rounds, None))
            for round in range(1, rounds + 1) if status == "complete" else ():
                psnr = 23 + ease[clean] + bonus + GAIN[prompt.rstrip("12")] + rng.normal(0, 0.3) - round
                row = {"chain": chain.id, "step": round, "round": round, "position": 1, "status": "ok"}
                scores.append(row | {"psnr": psnr, "niqe": 30 - psnr, "reasons": "{}", "signature": "{}"})
    return chains, scores


def test_chains_of_each_program_add_up():
    chains, scores = simulated({"refuses": 0.0}, prompts=("lf1",), status="refused")
    facts = compute_tables(Analysis(scores, chains))["facts"].rows
    values = {row["fact"]: row["value"] for row in facts}
    assert values["left out: count twice or have no scores"] + values["restorations without a picture"] == 28
    chains, scores = simulated({"better": 0.0}, prompts=("s1", "lf1"))
    suites = {"restoration": ["restore-s1", "restore-lf1", "restore-l1"], "another": ["hat"]}
    tables = compute_tables(Analysis(scores[:-3], chains, programs_of=suites.__getitem__))
    table = tables["programs"]
    assert not tables["leaderboard"].rows
    assert sum(row["chains"] for row in table.rows) == len(chains) == 56
    assert sum(row["restorations_with_scores"] or 0 for row in table.rows) == 53
    [absent] = [row for row in table.rows if not row["chains"]]
    assert (absent["program"], "not generated" in absent["reason"]) == ("restore-l1", True)


def test_pass_direction_is_the_cosine_of_two_changes():
    rng = np.random.default_rng(3)
    given = rng.integers(60, 200, (96, 128, 3)).astype(np.uint8)
    first = np.clip(given.astype(int) + rng.integers(-30, 31, given.shape), 0, 255).astype(np.uint8)
    half_back = ((given.astype(int) + first) // 2).astype(np.uint8)
    further = np.clip(2 * first.astype(int) - given, 0, 255).astype(np.uint8)

    def judged(*pictures, cycle=("restore it",)):
        seen = [second_pass.reduce(each) for each in pictures]
        program = {"cycle": cycle, "closes": True, "earlier": seen[:-2]}
        return second_pass.judge(program, 1, seen[-2:], None)

    assert judged(given, first, half_back)["pass_direction"] < -0.98
    assert judged(given, first, half_back)["pass_size"] == pytest.approx(0.5, abs=0.02)
    assert judged(given, first, further)["pass_direction"] > 0.9
    assert {*judged(given, first, first).values()} == {"pass_unchanged"}
    assert {*judged(given, first).values()} == {"first_pass"}
    assert {*judged(given, first, first, cycle=("add", "remove")).values()} == {"several_instructions"}


SINGLE = {  # the prompts of methods that have not all of them
    "plain": ("restore-l1",),
    "two": ("restore-l1", "restore-sf1"),
    "few": ("restore-l1", "restore-s1", "restore-sf1"),
}


def untidy():
    """The dataset's own restorations and two tables, with gaps, ties, audits, chains that ended and single prompts."""
    rng, rows, finished, published = np.random.default_rng(11), [], [], []
    methods = {"better": 0.6, "worse": 0.0, "identity": -1.0, "plain": 0.3, "two": 0.1, "few": 0.2}
    chains, scores = simulated(methods, prompts=PROMPTS, rounds=3, runs=2, seed=2)
    by_chain = {one.id: scores[3 * place : 3 * place + 3] for place, one in enumerate(chains)}
    for one in chains:
        chain, source, editor, draw = one.chain, one.source, one.editor, rng.random()
        number = int(source.id.partition("~")[0][1:])
        prompts = SINGLE.get(editor, (one.program.id,))
        if draw < 0.4 or one.program.id not in prompts or (editor == "few" and number > 2):
            continue
        cycle = ("Restore the picture" + " now" * len(one.program.id),)
        cycle = ("Sharpen it.", *cycle) if editor == "few" else cycle
        program = replace(one.program, id="restored" if editor == "plain" else one.program.id, cycle=cycle)
        about = {"reference": None, "scene": ""} if number == 13 else {"degradation": ""} if number == 12 else {}
        kind = f"film-{number % 7}" if "film" in source.id else source.degradation
        about = {"degradation": kind, "title": "" if number % 2 else f"Picture {number}"} | about
        source = replace(source, **about)
        rounds = (3 if editor == "better" else 2, 1, 2)[number % 3] if editor != "two" else 1
        settings = chain.settings | ({"audit": "noise"} if draw > 0.95 else {})
        chain = replace(chain, source=source, program=program, settings=settings, rounds=rounds)
        last = rounds if rng.random() < 0.8 else int(rng.integers(1, rounds + 1)) - 1
        end = "complete" if last == rounds else "refused"
        finished.append(FinishedChain(chain.id, chain, "restoration", "1", end, len(cycle) * last, None))
        for row in by_chain[one.id][: last + (last < rounds)]:
            values = {"lpips": rng.integers(1, 9) / 10, "ssim": rng.normal(0.7, 0.1)}
            values |= {"clip": rng.normal(0.8, 0.1), "musiq": 60 + 10 * rng.random() - row["psnr"] / 9}
            values |= {"rmse": 60 - row["psnr"], "psnr": row["psnr"]}
            values |= {"niqe": row["niqe"] if editor != "few" else None}
            values |= {"background_lpips": 0.1, "coloured_share": 0.2}  # of other studies
            way = {"better": 0.4, "worse": -0.5, "few": rng.choice((-0.9, 0.9)), "plain": 0.0}.get(editor, 0.1)
            if row["round"] > 1:
                noise = rng.normal(0, 0.2) if editor in ("better", "worse") else 0.0
                values |= {"pass_direction": way + noise, "pass_size": rng.gamma(2, 0.3)}
            lost = row["round"] > last
            values = {name: None if lost or rng.random() < 0.05 else value for name, value in values.items()}
            if editor == "worse" and program.id == "restore-s1":
                values["musiq"] = None
            if editor == "two":  # PSNR and NIQE choose its second prompt
                values |= dict.fromkeys(("ssim", "lpips", "clip", "musiq", "rmse"))
            place = {"chain": chain.id, "position": len(cycle), "step": row["round"] * len(cycle)}
            rows.append(row | values | place | {"status": "refused" if lost else "ok"})
    tables, prompts = ("street", "field"), ("S1", "S2", "LF1", "", "L-2")
    for table, editor, prompt, picture, run in product(tables, "ab", prompts, range(9), (1, 2, 3)):
        missing = (table, prompt) in (("field", ""), ("street", "L-2")) or (editor == "b" and picture > 6)
        known = table == "street" or picture < 7
        if rng.random() < 0.15 or missing or not (known or run == 1):
            continue
        row = {"table": table, "editor": editor, "program": prompt, "run": run, "chain": None}
        row["image"] = f"q{picture}" if known else None
        row["clean"] = f"c{picture // 2}" if table == "street" else None
        row |= {"scene": "street" if picture % 2 else None, "degradation": "old-film" if picture > 4 else "rain"}
        row |= {"round": 1 + (run == 3) * (table == "field"), "category": "restoration"}
        row |= {"lpips": rng.integers(2, 5) / 10, "musiq": rng.normal(60, 3)}
        row |= {"psnr": rng.integers(20, 24) + 0.5 * (editor == "a"), "clarity": rng.normal(5, 1)}
        published.append(row | ({"clarity": float("nan"), "psnr": None} if rng.random() < 0.05 else {}))
    return Analysis(rows, finished, roles={"identity": "baseline"}, tables={"published": published})


def test_the_numbers_of_every_table(tables):
    kept_numbers.check_study("restoration, imported", tables, "restoration")
    chains, scores = simulated({"better": 1.0, "worse": 0.0, "identity": -3.0})
    own = Analysis(scores, chains, roles={"identity": "baseline"})
    kept_numbers.check_study("restoration, own", compute_tables(own), "restoration")
    made = untidy()
    kept_numbers.check_study("restoration, untidy", compute_tables(made), "restoration", chains=made.chains)
