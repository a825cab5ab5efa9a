"""Gaps, fooled metrics, correlations and certain losses are read off scores step by step; a source fools by one gap."""

import math

import pytest
from convergebench.generation.records import Chain, FinishedChain, Program, Source
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.reporting.page import make_sections
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.replication.series import replication_series
from convergebench.spaces_app.studies.replication.statistics import (
    no_reference_fooled,
    no_reference_gaps,
    no_reference_ranks,
)

COPY = Program("replicate", ("copy it",), "replicate", True, "exact")
HAT = Program("hat", ("add a hat", "remove the hat"), "accessories", True, "clear")
SOURCES = ("fog", "holi", "moss")
STEPS = range(1, 31)
# Scores by source, run and step: BRISQUE is fooled by holi, at steps 5 and 10 only; NIQE by none.
SCORES = {
    "brisque": lambda source, run, step: 20.0 + step - (30 * math.exp(-step / 8) * step / 4 if source == "holi" else 0),
    "niqe": lambda source, run, step: 3.0 + 0.1 * step + 0.01 * run,
    "lpips": lambda source, run, step: 0.01 * step + (0.001 * run if step > 1 else 0),
}


def chain(source, run, program=COPY, **settings):
    picture = Source(source, "0" * 64, 64, 64, "texture", "synthetic", "CC0-1.0", "nobody")
    return Chain(picture, program, "worn", {"short_side": 64, **settings}, run, len(STEPS) // len(program.cycle))


def analysis(chains=None, columns=SCORES):
    chains = chains or [chain(source, run) for source in SOURCES for run in (1, 2)]
    finished = [FinishedChain(each.id, each, "banana", "1", "complete", len(STEPS), None) for each in chains]
    rows = [
        {
            "chain": each.id, "editor": "worn", "source": each.source.id, "program": each.program.id, "run": each.run,
            "step": step, "round": 1 + (step - 1) // len(each.program.cycle),
            "position": 1 + (step - 1) % len(each.program.cycle), "status": "ok", "reasons": "{}", "signature": "{}",
            "ssim": 0.9, **{name: score(each.source.id, each.run, step) for name, score in columns.items()},
        }
        for each in chains
        for step in STEPS
    ]  # fmt: skip
    return Analysis(rows, finished)


def of(rows, **wanted):
    [found] = [row for row in rows if all(getattr(row, key) == value for key, value in wanted.items())]
    return found


def test_a_gap_is_the_change_since_step_1_over_runs():
    rows = list(no_reference_gaps.rows(analysis()))
    gap = of(rows, metric="NIQE", source="fog", step=20)
    assert gap.gap == pytest.approx(-1.9)
    assert (gap.runs, gap.fooled_runs) == (2, 0)
    assert of(rows, metric="BRISQUE", source="fog", step=5).gap == pytest.approx(-4 / 150 * 100)
    assert of(rows, metric="LPIPS (sees the original)", source="holi", step=10).gap == pytest.approx(-9.15)


def test_a_metric_is_fooled_by_the_sources_with_a_gap_above_0():
    rows = list(no_reference_fooled.rows(analysis()))
    brisque = of(rows, metric="BRISQUE")
    assert (brisque.fooled, brisque.sources, brisque.gaps_above, brisque.gaps) == (1, 3, 2, 9)
    assert brisque.fooled_by == "holi (2 of 3)"
    for metric in ("NIQE", "LPIPS (sees the original)"):
        assert (of(rows, metric=metric).fooled, of(rows, metric=metric).fooled_by) == (0, "none")


def test_metrics_that_follow_the_damage_are_found():
    rows = list(no_reference_ranks.rows(analysis()))
    niqe, brisque = of(rows, metric="NIQE"), of(rows, metric="BRISQUE")
    assert (niqe.with_step.value, niqe.with_lpips.value) == (pytest.approx(-1), pytest.approx(-1))
    assert niqe.worse_from == 2
    assert -1 < brisque.with_step.value < 0
    assert brisque.with_step.low < brisque.with_step.value < brisque.with_step.high
    assert brisque.worse_from > 10
    assert {row.better_from for row in rows} == {None}
    assert of(rows, metric="LPIPS (sees the original)").with_lpips.value is None


def test_a_metric_that_likes_the_damage_is_found():
    pleased = {"piqe": lambda source, run, step: 50.0 - step - len(source) / 10, "lpips": SCORES["lpips"]}
    [row, _] = no_reference_ranks.rows(analysis(columns=pleased))
    assert (row.with_step.value, row.worse_from, row.better_from) == (pytest.approx(1), None, 2)


def test_one_source_makes_no_step_certain():
    rows = list(no_reference_ranks.rows(analysis([chain("fog", 1)])))
    assert of(rows, metric="NIQE").worse_from is None
    assert of(rows, metric="NIQE").with_step.low is None


def test_audited_copies_and_lpips_alone_do_not_count():
    chains = [chain("fog", 1), chain("fog", 2, audit="noise"), chain("fog", 1, HAT)]
    series = replication_series(analysis(chains))
    assert {(program, len(sources)) for (_, program, _), sources in series.items()} == {("replicate", 1)}
    assert list(no_reference_gaps.rows(analysis(columns={"lpips": SCORES["lpips"]}))) == []


def test_a_heatmap_says_which_metrics_no_source_fools():
    made = analysis()
    [section] = [each for each in make_sections(compute_tables(made), list(made.groups), {})
                 if each.title == no_reference_gaps.SECTION]  # fmt: skip
    [drawing] = section.drawings
    assert "worn: NIQE, LPIPS (sees the original) fooled by no source" in drawing.description
    assert "<svg" in drawing.svg()
