"""Banana100's tables: scores without a reference step by step, denoising, strict grey, and reconstruction apart."""

import json
import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import kept_numbers
import numpy as np
from convergebench.generation import programs
from convergebench.generation.records import Chain, FinishedChain, Source
from convergebench.metric_modules.greyscale.measure import _colour_of, compare
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.published.curves import published_metrics
from convergebench.spaces_app.studies.replication.series import replication_series

SOURCES = ("fog", "holi", "moss")


def chain(program, source, run=1, steps=20, editor="worn", **settings):
    picture = Source(source, "0" * 64, 64, 64, "texture", "synthetic", "CC0-1.0", "nobody")
    asked = programs.get(program) if program != "again" else replace(programs.get("replicate"), id="again")
    return Chain(picture, asked, editor, {"short_side": 64, **settings}, run, steps // len(asked.cycle))


def test_a_picture_is_grey_only_if_every_pixel_is():
    grey = np.repeat(np.arange(64, dtype=np.uint8).reshape(8, 8, 1), 3, axis=2)
    tinted = grey.copy()
    tinted[0, 0, 1] += 1
    assert _colour_of(grey) == (0, 0)
    compared = compare(None, [grey, tinted], [{}] * 2)
    assert [(row["coloured_share"], row["colour_left"]) for row in compared] == [(0, 0), (1 / 64, 1 / 64)]


def test_lpips_alone_is_no_series():
    one = chain("replicate", "fog")
    finished = FinishedChain(one.id, one, "banana", "1", "complete", 2, None)
    about = {"chain": one.id, "round": 1, "position": 1, "status": "ok", "reasons": "{}", "signature": "{}"}
    rows = [about | {"step": step, "lpips": 0.1 * step} for step in (1, 2)]
    assert replication_series(Analysis(rows, [finished])) == {}
    with_niqe = [row | {"niqe": 3.0} for row in rows]
    assert len(replication_series(Analysis(with_niqe, [finished]))) == 2


PROGRAMS = ("replicate", "again", "replicate-denoise", "monochrome-and-back")
PROGRAMS += ("flip-vertically", "hat", "add-apples")
OUTLINE = [[[0.1, 0.1], [0.2, 0.12], [0.24, 0.24], [0.1, 0.2]], [[0.6, 0.6], [0.65, 0.6], [0.7, 0.7]]]


def untidy():
    """Scores of three editors with gaps, ties, unequal lengths, ended chains and audits."""
    rng, chains, rows = np.random.default_rng(6), [], []
    editors = enumerate(("worn", "torn", "mended", "new"))
    for (place, editor), program, source, run in product(editors, PROGRAMS, (*SOURCES, "dune"), (1, 2)):
        if editor == "new" and (program, source) != ("replicate", "fog"):
            continue
        if rng.random() < 0.2 or (program, editor) == ("flip-vertically", "torn"):
            continue
        audit = {"audit": "noise"} if rng.random() < 0.08 else {}
        steps = int(rng.choice((2, 6, 24) if place else (24, 102)))
        one = chain(program, source, run, steps, editor=editor, **audit)
        asks, end = list(one.asks()), str(rng.choice(["complete"] * 9 + ["refused"]))
        asks = asks if end == "complete" else asks[:-1]
        chains.append(FinishedChain(one.id, one, "banana", "1", end, len(asks), None))
        trend = rng.normal(0.3, 0.3, 5)
        for number, round, position, _ in asks:
            ended = end != "complete" and number == len(asks)
            wear = 1 - math.exp(-number / 30)
            level = np.clip(0.9 - trend * wear + rng.normal(0, 0.02, 5), 0, 1)
            part = float(np.clip(rng.gamma(1, 0.1), 0, 1))
            values = {"brisque": 150 * (1 - level[0]), "niqe": 100 * (1 - level[1]), "clipiqa": level[2]}
            values |= {"musiq": 70.0 + (place == 1 and number > 4), "lpips": 0.8 * wear + level[3] / 10}
            values |= {"rmse": 60 * wear, "psnr": 40 - wear, "piqe": 50 - number / 3 - level[0]}
            values |= {"nima": 10 * level[4] if place else None, "ssim": 1 - wear / 2, "clip": 1 - wear / 4}
            values |= {"face_distance": 0.3 + rng.gamma(1, 0.07), "colour_shift": rng.gamma(2, 1.5)}
            values |= {"coloured_share": rng.choice((0.0, 0.1, 0.4))}
            values |= {"retained_damage": 1 - part, "damage": part, "edit_changed": rng.random() > 0.04}
            values |= {"edit_undone": rng.random() > 0.04, "edit_as_asked": rng.random() > 0.04}
            values |= {"retained_rmse": 1 - wear * level[0], "retained_ssim": 1 - wear / 3}
            values |= {"retained_lpips": level[2], "retained_clip": 1 - wear / 5}
            values = {name: None if ended or rng.random() < 0.04 else value for name, value in values.items()}
            scored = {("torn", "dune", 1): (1, 2, 3), ("torn", "dune", 2): (1, 5)}.get((editor, source, run))
            if scored and number not in scored:
                values = dict.fromkeys(values)
            if program != "replicate":
                values |= dict.fromkeys(("clipiqa", "musiq", "nima", "piqe"))
            side = rng.uniform(0.5, 1.5)
            outline = (np.array(OUTLINE[0]) * side).tolist(), OUTLINE[1]
            values["colour_left"] = None if values["coloured_share"] is None else rng.gamma(1, 4) + round
            values["damage_outline"] = values["damage"] and json.dumps({"polygons": outline})
            row = {"chain": one.id, "editor": editor, "source": source, "program": program, "run": run}
            row |= {"step": number, "round": round, "position": position, "status": end if ended else "ok"}
            rows.append(row | values | {"reasons": "{}", "signature": "{}"})
    return Analysis(rows, chains, roles={"mended": "transport"})


def test_the_numbers_of_every_table():
    tables = compute_tables(untidy())
    kept_numbers.check_study("replication", tables, "replication")
    ranks = {(row["program"], row["editor"], row["metric"]): row for row in tables["no_reference_ranks"].rows}
    assert ranks["replicate", "worn", "NIQE"]["fooled_by"] == "holi (2 of 3)"


# Published tables: what counts as one picture, and what two editors are compared at


def test_a_picture_is_known_from_the_chain_of_one_editor():
    row = {"category": None, "image": None, "table": "t", "case": "1", "run": 1, "round": 1, "ssim": 0.5}
    rows = [row | {"editor": "a", "chain": "c"}, row | {"editor": "b", "chain": None}]
    chains = [SimpleNamespace(id="c", source=SimpleNamespace(id="harbour"))]
    of_rows = Analysis([], [], tables={"published": rows}).rows
    [metric] = published_metrics(SimpleNamespace(rows=of_rows, chains=chains))
    assert (metric.source_of, metric.has_pictures) == ({("1", 1): "harbour"}, True)


def untidy_tables():
    """Three tables of four editors with gaps: pictures known, from chains, or not known; one has a single round."""
    rng, rows = np.random.default_rng(8), []
    tables = (("t.csv", (1, 2, 5, 10)), ("u.csv", (1, 3)), ("v.csv", (4,)))
    for (table, rounds), editor, number, run in product(tables, "abcd", range(16), (1, 2)):
        slope = rng.gamma(2, 0.03 + 0.02 * (editor == "a"))
        last = rng.choice(rounds, p=[0.2 / (len(rounds) - 1)] * (len(rounds) - 1) + [0.8]) if rounds[1:] else 4
        for round in rounds if rng.random() > 0.1 else ():
            if round <= last and rng.random() > 0.05:
                level = float(np.clip(1 - slope * round + rng.normal(0, 0.02), 0, 1))
                row = {"table": table, "editor": editor, "case": f"case {number}", "run": run}
                row["round"] = round + 20 * (editor == "d" and table == "u.csv")  # no round is common
                row |= {"chain": None, "category": None}
                row["image"] = None if table == "u.csv" else f"p {number % (2 if table == 'v.csv' else 13)}"
                numbers = {"ssim": level, "lpips": 1 - level, "psnr": 20 + 20 * level, "clip": level / 2 + 0.5}
                row |= {name: None if rng.random() < 0.05 else value for name, value in numbers.items()}
                rows.append(row)
    return Analysis([], [], tables={"published": rows})


def test_the_numbers_of_published_tables():
    tables = compute_tables(untidy_tables())
    kept_numbers.check_study("published", tables, "published")
    unknown = [row for row in tables["published_pairs"].rows if row["table"] == "u.csv"]
    assert {(row["sources"], row["verdict"]) for row in unknown} == {(None, "pictures unknown")}
    assert "not known for u.csv" in tables["published"].note
