"""Published tables: what counts as one picture, and what two editors are compared at."""

from itertools import product
from types import SimpleNamespace

import kept_numbers
import numpy as np
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.published.curves import published_metrics
from convergebench.spaces_app.studies.published.statistics import published, published_pairs


def published_analysis(pictures, rounds=(1, 2), image=True):
    """A table of two editors: the first is better by 1 in round 1 and worse by 1 in the last."""
    rows = []
    for number, place, round in product(range(24), (0, 1), rounds):
        row = {"table": "t.csv", "editor": "ab"[place], "case": f"case {number}", "run": 1, "round": round}
        row |= {"chain": None, "category": None, "image": f"picture {number % pictures}" if image else None}
        ssim = 0.5 + 0.1 * ((round == rounds[0]) != place) + 0.001 * (number % pictures) * place
        rows.append({**row, "ssim": ssim})
    return Analysis([], [], tables={"published": rows})


def test_cases_of_one_picture_count_as_one_picture():
    analysis = published_analysis(6)
    pairs = list(published_pairs.rows(analysis))
    assert {(row.sources, row.verdict) for row in pairs} == {(6, "indicative")}
    assert {row.sources for row in published.rows(analysis)} == {6}


def test_unknown_pictures_have_no_limits_and_no_verdicts():
    analysis = published_analysis(24, image=False)
    for row in published_pairs.rows(analysis):
        assert row.verdict == "pictures unknown"
        assert row.sources is row.p_value is row.difference.low is None
    rows = list(published.rows(analysis))
    assert all(row.first.low is row.sources is None for row in rows)
    assert "not known for t.csv" in published.note(analysis, rows)


def test_limits_of_a_difference_are_within_its_range():
    analysis = published_analysis(2)
    for metric in analysis.once(published_metrics):
        for editor, cases in metric.editors.items():
            for number, values in enumerate(cases.values()):
                values |= dict.fromkeys(values, 1.0 if (number % 2 == 0) == (editor == "a") else -1.0)
    for row in published_pairs.rows(analysis):
        assert -2 <= row.difference.low <= row.difference.high <= 2


def test_a_picture_is_known_from_the_chain_of_one_editor():
    row = {"category": None, "image": None, "table": "t", "case": "1", "run": 1, "round": 1, "ssim": 0.5}
    rows = [row | {"editor": "a", "chain": "c"}, row | {"editor": "b", "chain": None}]
    chains = [SimpleNamespace(id="c", source=SimpleNamespace(id="harbour"))]
    of_rows = Analysis([], [], tables={"published": rows}).rows
    [metric] = published_metrics(SimpleNamespace(rows=of_rows, chains=chains))
    assert (metric.source_of, metric.has_pictures) == ({("1", 1): "harbour"}, True)


def untidy():
    """Three tables of four editors with gaps: pictures known, from chains, or not known; one has a single round."""
    rng, rows = np.random.default_rng(8), []
    for (table, rounds), editor, number, run in product(
        (("t.csv", (1, 2, 5, 10)), ("u.csv", (1, 3)), ("v.csv", (4,))), "abcd", range(16), (1, 2)
    ):
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


def test_the_numbers_of_every_table():
    kept_numbers.check_study("published", compute_tables(untidy()), "published")
