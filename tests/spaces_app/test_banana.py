"""Banana100's tables beyond its gaps: denoising beside plain copies, strict grey, and reconstruction apart."""

import numpy as np
import pytest
from convergebench.generation import programs
from convergebench.generation.records import Chain, FinishedChain, Source
from convergebench.metric_modules.greyscale.measure import Scorer, colour_of
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.program_groups import group_of_chain, program_groups
from convergebench.spaces_app.studies.replication.statistics import denoise, greyscale

SOURCES = ("fog", "moss", "rice")


def chain(program, source, run=1, steps=20):
    picture = Source(source, "0" * 64, 64, 64, "texture", "synthetic", "CC0-1.0", "nobody")
    asked = programs.get(program)
    return Chain(picture, asked, "worn", {"short_side": 64}, run, steps // len(asked.cycle))


def finished(one):
    return FinishedChain(one.id, one, "banana", "1", "complete", one.rounds * len(one.program.cycle), None)


def analysis(chains, values):
    rows = [
        {
            "chain": one.id, "editor": "worn", "source": one.source.id, "program": one.program.id, "run": one.run,
            "step": number, "round": round, "position": position, "status": "ok", "reasons": "{}", "signature": "{}",
            "ssim": 0.9, **values(one, number, round, position),
        }
        for one in chains
        for number, round, position, _ in one.asks()
    ]  # fmt: skip
    return Analysis(rows, [finished(one) for one in chains])


def test_denoising_is_compared_on_common_sources():
    chains = [chain(program, source, run) for program in ("replicate", "replicate-denoise") for source in SOURCES
              for run in (1, 2)]  # fmt: skip
    chains += [chain("replicate", "dune")]
    loss = {"replicate": 0.02, "replicate-denoise": 0.03}

    def values(one, number, round, position):
        more = 0.01 * SOURCES.index(one.source.id) if one.program.id == "replicate-denoise" else 0.0
        return {"retained_rmse": 1.0, "retained_lpips": 1 - loss[one.program.id] * number - more}

    made = analysis(chains, values)
    rows = {row.step: row for row in denoise.rows(made)}
    assert list(rows) == [1, 5, 10, 20]
    assert rows[20].plain == pytest.approx(0.6)
    assert rows[20].difference.value == pytest.approx(-0.2 - 0.01)
    assert rows[20].difference.low < rows[20].difference.value < rows[20].difference.high < 0
    assert rows[20].sources == 3


def test_a_picture_is_grey_only_if_every_pixel_is():
    grey = np.repeat(np.arange(64, dtype=np.uint8).reshape(8, 8, 1), 3, axis=2)
    tinted = grey.copy()
    tinted[0, 0, 1] += 1
    assert colour_of(grey) == (0, 0)
    assert Scorer("cpu", "float32", {}).compare(None, [grey, tinted], [{}] * 2) == [
        {"coloured_share": 0, "colour_left": 0},
        {"coloured_share": 1 / 64, "colour_left": 1 / 64},
    ]


def test_only_the_forward_instruction_asks_for_grey():
    chains = [chain("monochrome-and-back", source) for source in SOURCES] + [chain("replicate", "fog")]

    def values(one, number, round, position):
        strict = one.source.id == "fog" and round == 1
        return {"coloured_share": 0.0 if strict else 0.25, "colour_left": 0.0 if strict else 2.0 + round}

    [row] = greyscale.rows(analysis(chains, values))
    assert row.instruction == "turn the image monochrome"
    assert (row.steps, row.sources) == (30, 3)
    assert row.strict.value == pytest.approx(1 / 30)
    assert row.coloured_share == 0.25
    assert (row.colour_first, row.colour_last) == (pytest.approx(2.0), pytest.approx(12.0))
    assert list(greyscale.rows(analysis(chains, lambda *given: {}))) == []


def test_reconstruction_is_a_group_of_its_own():
    one = finished(chain("patches-edges-photograph", "fog", steps=9))
    assert group_of_chain(one) == "reconstruction"
    assert "reconstruction" in program_groups()
    both = [chain("patches-edges-photograph", "fog", steps=9), chain("monochrome-and-back", "fog")]
    scored = {"psnr": 30.0, "rmse": 5.0, "retained_rmse": 0.9, "retained_ssim": 0.9, "retained_lpips": 0.9}
    groups = analysis(both, lambda *given: scored).groups
    assert {name: [case.program for case in group.cases["worn"]] for name, group in groups.items()} == {
        "round trips": ["monochrome-and-back"],
        "reconstruction": ["patches-edges-photograph"],
    }
