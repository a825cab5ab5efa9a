"""The numbers of every statistic and measure on drawn inputs are those of kept_numbers.json: no operator may change."""

from dataclasses import astuple
from itertools import combinations
from types import SimpleNamespace

import cv2
import kept_numbers
import numpy as np
import pytest
from convergebench.metric_modules._engine import results
from convergebench.metric_modules._shared.looks import look, seen
from convergebench.metric_modules.contraction.contraction import contraction
from convergebench.metric_modules.contraction.growth import shape
from convergebench.metric_modules.damage import measure as damage
from convergebench.metric_modules.edit_applied import judge, whole_picture
from convergebench.metric_modules.edit_applied.cycles import asked_transforms, roles
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.metric_modules.edit_applied.measure import SIGNATURE
from convergebench.metric_modules.halflife import comparison, intervals, survival
from convergebench.metric_modules.halflife.causes import CAUSES, Limits
from convergebench.metric_modules.halflife.halflife import half_life
from convergebench.metric_modules.halflife.outcomes import Outcome, convergence, curve_outcome
from convergebench.metric_modules.honesty import knowledge
from convergebench.metric_modules.honesty.measure import Scorer
from convergebench.metric_modules.registration import align, measure
from random_lpips import random_model

OF_PICTURES = 1e-3  # relative: resizing differs a little between builds of OpenCV


def keep(name, cases, rel=1e-6):
    kept_numbers.check(name, {case: [{"": value}] for case, value in cases.items()}, rel)


def size_of(p):
    """A p on a scale on which a small one counts too."""
    return p and -np.log10(p)


def words(outcome):
    return [part.replace(" ", "_") if isinstance(part, str) else part for part in astuple(outcome)]


@pytest.mark.parametrize("kind", ["whole", "real"])
@pytest.mark.parametrize("sources", [1, 2, 5, 6, 11, 12, 14, 15, 17, 41])
def test_comparisons(sources, kind):
    rng = np.random.default_rng(sources)
    tests = [(source, n) for source in range(sources) for n in range(int(rng.integers(1, 4)))]
    level = {test: rng.gamma(2, 2) for test in tests}
    editors = {}
    for name, gain in zip("abcd", (0, 0.4, 1.2, 4), strict=True):
        kept = {test: min(level[test] + gain + rng.normal(0, 1.5), 10.0) for test in tests}
        kept = {test: float(np.rint(rounds)) if kind == "whole" else rounds for test, rounds in kept.items()}
        editors[name] = {
            test: None if rng.random() < 0.04 else kept[test] for test in tests if rng.random() > 0.04
        }
    source_of = {test: test[0] for test in tests}
    pairs = [
        comparison.compare(names, *(editors[name] for name in names), source_of, most)
        for most, names in zip((10, None, 10, 7, 10, 10), combinations("abcd", 2), strict=True)
    ]
    for pair in pairs:
        low, high = pair.interval or (-np.inf, np.inf)
        assert low <= pair.difference <= high
        assert pair.interval is None or (low <= 0 <= high) == (pair.p_value > 0.05)
    judged = [
        comparison.judge_together(pairs),
        comparison.judge_together(pairs[:1]),
        comparison.judge_alone(pairs),
    ]
    for together in judged:
        ranks = comparison.rank_intervals("abcd", together)
        columns = [
            (pair.cases, pair.left_out, pair.sources, pair.difference, pair.interval, pair.verdict)
            for pair in together
        ]
        p = [(size_of(pair.p_value), size_of(pair.p_corrected)) for pair in together]
        keep(f"comparisons of {sources} sources, {kind}, {judged.index(together)}", {
            "pairs": columns, "p": p, "ranks": list(ranks.values()),
        })  # fmt: skip


def test_sign_flips_and_steps():
    rng = np.random.default_rng(8)
    found = {}
    for size in (1, 3, 12, 39, 40, 41, 90):
        for name, scale in (("of tiny", 1e-9), ("of ordinary", 1), ("of huge", 1e9)):
            values = scale * rng.normal(0.4, 1, size)
            found[f"{size} {name}"] = [size_of(comparison._sign_flip_p(values))]
        found[f"{size} whole"] = [size_of(comparison._sign_flip_p(rng.integers(-2, 5, size)))]
        found[f"{size} none"] = [comparison._sign_flip_p(np.zeros(size)), comparison._sign_flip_p([1, -1] * size)]
    for size in (12, 15, 16, 20):
        table = rng.normal(0.6, 1, (size, 6)) + np.arange(6) / 3
        table[rng.random(table.shape) < 0.15] = np.nan
        table[:, 2] = 0.0
        table[1] = np.nan
        found[f"steps of {size}"] = [size_of(p) for p in comparison._step_down(table)]
    found["steps of nothing"] = comparison._step_down(np.full((12, 2), np.nan))
    keep("sign flips", found)


def designs():
    """Values with their sources and programs, of equal and of unequal groups."""
    rng = np.random.default_rng(2)
    for sources, programs, share in ((1, 3, 1), (2, 2, 1), (5, 1, 1), (7, 4, 0.7), (12, 3, 1), (30, 4, 0.6)):
        cells = [(s, p) for s in range(sources) for p in range(programs) if rng.random() < share]
        effect, other = rng.normal(0, 3, sources), rng.normal(0, 2, programs)
        noise = rng.normal(0, 2, len(cells))
        values = np.array([9 + effect[s] + other[p] for s, p in cells]) + noise
        name = f"{sources} sources, {programs} programs"
        yield name, values, [f"s{s}" for s, _ in cells], [f"p{p}" for _, p in cells]


@pytest.mark.parametrize("kind", ["inside", "at an end", "level", "marks", "few marks", "no marks"])
def test_limits(kind):
    found = {}
    for name, drawn, sources, programs in designs():
        values = {
            "inside": np.clip(drawn, 0, 20),
            "at an end": np.clip(2.2 * (drawn - 9), 0, 20),
            "level": np.full(len(drawn), 20.0),
            "marks": (drawn > 9).astype(float),
            "few marks": (drawn == drawn.max()).astype(float),
            "no marks": np.zeros(len(drawn)),
        }[kind]
        for given in (None, programs):
            found[f"{name}: {given is None}"] = [
                intervals.mean_interval(values, sources, 20, given),
                intervals.mean_interval(values, sources, 15, given, first=1.0),
                intervals.share_interval(values > 0.5, sources, given),
                intervals._variance(values, sources, given),
                intervals.student_interval(values, sources),
                intervals.mean_over_clusters([*values[:-1], None], sources),
            ]
    keep(f"limits, {kind}", found)


@pytest.mark.parametrize("last", [1, 9, 10, 20])
def test_survival(last):
    rng = np.random.default_rng(last)
    found = {}
    for name, lost, failed in (
        ("most lost", 0.9, 0.1),
        ("all lost", 1.0, 0),
        ("half lost", 0.5, 0.5),
        ("none", 0, 0),
    ):
        outcomes = []
        for kept in rng.integers(0, last + 1, 40).tolist():
            if kept < last and rng.random() < lost:
                outcomes.append(Outcome(kept, min(kept + 1 + int(rng.integers(0, 2)), last), "quality lost"))
            else:
                is_failed = rng.random() < failed
                outcomes.append(Outcome(kept if is_failed else last, failed=is_failed))
        sources, programs = [f"s{n // 4}" for n in range(40)], [f"p{n % 4}" for n in range(40)]
        rounds = list(range(1, last + 1))
        found |= {
            name: survival.summarise(outcomes, rounds, sources, programs),
            f"{name}, alone": survival.summarise(outcomes[:9], rounds),
            f"{name}, with gaps": survival.summarise(outcomes, rounds[::3], sources),
            f"{name}, of two": survival.summarise(outcomes, rounds, [*"ab"] * 20),
            f"{name}, not measured": survival.summarise([Outcome(0, failed=True)] * 3, rounds),
            f"{name}, medians": [
                survival._median_interval(rng.gamma(3, 2, 2 * size), np.ones(2 * size, bool), [*range(size)] * 2)
                for size in (2, 5, 12, 30)
            ],
        }
        causes = [["quality", "part", None][n] for n in rng.integers(0, 3, 40)]
        grid, incidence = survival.cumulative_incidence([outcome.time for outcome in outcomes], causes)
        found[f"{name}, by cause"] = [grid, *incidence.values()]
    keep(f"survival of {last} rounds", found)


def test_outcomes():
    rng = np.random.default_rng(6)
    rounds, found = [1, 2, 3, 5, 8], {}
    for end in ("complete", "refused", "no_image", "shrunk", "failed"):
        drawn = []
        for number in range(60):
            length = 5 if end == "complete" else int(rng.integers(0, 6))
            curve = [None if rng.random() < 0.1 else float(v) for v in np.round(rng.uniform(0.35, 1, length), 1)]
            end_round = [None, 4, 1][number % 3]
            drawn += [
                words(curve_outcome(curve, rounds, 0.5, "higher", end, end_round)),
                words(curve_outcome(curve, rounds, 0.8, "lower", end, end_round)),
            ]
            scale = {"part lost": 0.4, "colour lost": 20, "another person": 0.8, "framing lost": 0.3}
            series = {name: [rng.random(length) < 0.9] for name in ("not changed", "not as asked", "not undone")}
            series |= {name: [rng.uniform(0, top, length)] for name, top in scale.items()}
            series |= {
                name: [curve, *[rng.uniform(0.45, 1, length)] * 2] for name in ("quality lost", "meaning lost")
            }
            asked = {name: series[name] for name in series if rng.random() < 0.3}
            limits = Limits([0.5, 0.7][number % 2], [None, 0.2][number % 2], ["", "kept", "lost"][number % 3])
            left_out = {name: {1, 3} for name in asked if rng.random() < 0.3}
            drawn.append(words(convergence(rounds, asked, end, end_round, limits, left_out)))
        found[end] = drawn
        curves = [[0.9, 0.7, 0.4, 0.3, 0.0], [0.9, 0.8, 0.8], [1.0, 0.9]]
        result = half_life(curves, rounds, ends=["complete", end, end] if end != "complete" else None)
        found |= {f"{end}, half-life": result, "signature": result.pop("signature")}
    exact = {
        name: np.linspace(0, 1, 101).round(2) * {"colour lost": 20}.get(name, 1)
        for name in CAUSES
        if CAUSES[name].decided_by
    }
    for name, values in exact.items():
        for limits in (Limits(), Limits(0.6, 0.2, "kept"), Limits(0.4, 0.3, "lost")):
            found[f"{name} at {limits}"] = [bool(CAUSES[name].is_lost(value, limits)) for value in values]
    keep("outcomes", found)


def test_contractions():
    rng, rounds = np.random.default_rng(9), np.arange(1, 15)
    found = {}
    for name, curve in (
        ("linear", 1 + 2.0 * rounds), ("power", rounds**2.0), ("plateau", 40 * (1 - 0.6**rounds)),
        ("exponential", np.exp(rounds / 4)), ("level", np.full(14, 3.0)), ("nothing", np.zeros(14)),
    ):  # fmt: skip
        mse = np.abs(curve + rng.normal(0, 0.2, (6, 14)) * (curve > 0)).tolist()
        steps = np.maximum(np.abs(np.diff(curve, prepend=0) + rng.normal(0, 0.05, (6, 14))) - 0.06, 0).tolist()
        mse[1][4], mse[2], steps[3] = None, mse[2][:8], [3.0, *[0.0] * 13]
        steps[4] = [0.5**n for n in range(6)] + [0.0] * 8
        for given in (steps, None):
            result = contraction(mse, given, clusters=[*"aabbcd"])
            result |= {"shape_reason": None, "signature": ""}
            found[f"{name}: {given is None}"] = result
    found["short"] = contraction([[1.0, 4.0, 9.0]], [[1.0, 2.0, 3.0]])
    for at in ([1, 2, 3, 5, 8, 10], range(1, 11), range(2, 14), range(1, 25)):  # no shape stands out
        for part, walk in enumerate(rng.normal(0.5, 1, (4, len(at))).cumsum(axis=1)):
            found[f"walk {part} of {len(at)}"] = [*shape(walk, at)["weights"].values()]
    keep("contraction", found)


def textured(height, width, seed=0):
    noise = np.random.default_rng(seed).normal(0, 1, (height, width, 3))
    soft = sum(cv2.GaussianBlur(noise, (0, 0), sigma) * sigma for sigma in (1.5, 5, 14))
    return np.clip(128 + 45 * soft / soft.std(), 0, 255).astype(np.uint8)


def moved(shown, x, y, scale):
    height, width = shown.shape[:2]
    start = [(side - 1) / 2 * (1 - scale) + shift for side, shift in ((width, x), (height, y))]
    matrix = np.array([[scale, 0, start[0]], [0, scale, start[1]]])
    return cv2.warpAffine(shown, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)


MOVES = (
    (0, 0, 1),
    (3.25, -2.5, 1),
    (-7.5, 5, 0.985),
    (6, -9, 1.03),
    (0.1, 0.1, 1),
    (15, 17, 1.07),
    (40, 0, 1),
    (0, 0, 1.1),
)


@pytest.mark.parametrize("shape", [(260, 330), (600, 540), (64, 90), (63, 90), (90, 1200)])
def test_registrations(shape):
    reference, found = textured(*shape), {}
    blocks = align.anchors(reference)
    faint = (reference * np.linspace(0, 0.5, shape[1])[:, None]).astype(np.uint8)
    found["faint blocks"] = [len(align.anchors(faint)[2])]
    found["blocks"] = [len(blocks[2]), blocks[2].sum(axis=0), *[grey.shape for grey in blocks[1]]]
    for move in MOVES if shape != (600, 540) else MOVES[2:4]:
        shown = moved(reference, *move)
        shown[: shape[0] // 3, : shape[1] // 3] = textured(*shape, 1)[: shape[0] // 3, : shape[1] // 3]
        place = align.locate(blocks, shown)
        laid, part = measure.undone(shown, place)
        found[f"{move}: place"] = [value for value in place if np.isfinite(value)]
        found[f"{move}: scores"] = list(measure.register(blocks, reference, shown).values())
        raw = {"psnr": 99.5, "ssim": "smaller_than_window"}
        found[f"{move}: beside raw scores"] = list(
            measure.compare((blocks, reference), [shown], [raw])[0].values()
        )
        found[f"{move}: laid"] = [*[(side.start, side.stop) for side in part], laid.mean()]
    keep(f"registration of {shape}", found, OF_PICTURES)


def test_placements():
    still = [(0.249, 0), (0.25, 0), (4, 2), (4, 2.1), (4, 1.9)]
    found = {
        "still": [align.Placement(3, 2, 1.1, residual, unmoved, 20).still for unmoved, residual in still],
        "accepted": [align.Placement(0, 0, 1, residual, 9, blocks).accepted
                     for residual, blocks in ((1.99, 12), (2.0, 12), (1.0, 11))],
        "framing": [measure._framing_loss((100, 200), align.Placement(x, y, scale, 0, 9, 20))
                    for x, y, scale in ((0, 0, 1), (20, 0, 1), (0, -30, 1.1), (7, 9, 0.8), (300, 0, 1), (0, 150, 1))],
        "recorded": [align.recorded(dict(zip(("shift_x", "shift_y", "scale"), row, strict=True)), (400, 512, 3))
                     for row in ((0.19, 0, 1), (0.2, 0, 1), (0, -1, 1), (0, 0, 1.002), (0, 0, 0.98), (None, 0, 1))],
    }  # fmt: skip
    similarities = [measure._psnr_and_ssim(*[textured(side, 40)] * 2)[1] for side in (10, 11)]
    assert similarities == ["smaller_than_window", pytest.approx(1)]
    finite = [place and [value for value in place if np.isfinite(value)] for place in found["recorded"]]
    keep("placements", found | {"recorded": finite})


def test_how_blocks_agree():
    rng, found = np.random.default_rng(12), {}
    for zoom, growth, gone, strays in (
        (0.5, 0.02, 0.1, 0.3), (1, -0.03, 0, 0.45), (2, 0, 0.3, 0.2),
        (0.5, 0.07, 0, 0), (1, 0.12, 0, 0), (1, 0, 0, 0.6),
    ):  # fmt: skip
        middles = rng.uniform(-200, 200, (40, 2))
        moves = growth * middles + (3, -5) + rng.normal(0, 0.4, (40, 2))
        moves += rng.normal(0, 30, (40, 2)) * (rng.random((40, 1)) < strays)
        moves[rng.random(40) < gone] = np.nan
        agreed = align._agreed(middles, moves, zoom)
        found[f"{zoom}, {growth}, {gone}, {strays}"] = [value for value in agreed if np.isfinite(value)]
    moves = np.array([[1.0, 2], [1, 2.5], [np.nan, 0], [np.nan, 1], [0.5, 2]])
    for n in (2, 3, 4, 5):  # of four only two are found, which is not more than half
        found[f"of {n}"] = [value for value in align._agreed(middles[:n], moves[:n], 1) if np.isfinite(value)]
    found["vertex"] = [align._vertex(np.array(three)) for three in ((0.5, 1, 0.75), (1, 1, 1), (0, 1, 0.9))]
    keep("agreement", found)
    faint = textured(300, 600).astype(float)
    faint = (128 + (faint - 128) * np.linspace(0, 1, 600)[:, None]).astype(np.uint8)
    _, _, centres = align.anchors(faint)
    keep("faint blocks", {"": [len(centres), *centres.sum(axis=0)]})


def test_levels_and_the_search_for_a_block():
    levels = {63: [63], 256: [256], 300: [256, 300], 512: [256, 512], 600: [256, 512]}
    for side, sides in levels.items():
        assert [grey.shape for grey in align._pyramid(textured(side, 2 * side))] == [(n, 2 * n) for n in sides]
    seen = np.random.default_rng(3).integers(0, 256, (16, 16), np.uint8)
    for down, right in ((0, 0), (1, -1), (-1, 0)):
        for middle in (
            (5, 6),
            (10, 9),
            (4 - min(right, 0), 4 - min(down, 0)),
            (11 - max(right, 0), 11 - max(down, 0)),
        ):
            shown = np.roll(seen, (down, right), (0, 1))
            move = align._sought(seen, shown, np.array(middle, float), np.zeros(2), 2, 2)
            assert move == pytest.approx((right, down), abs=0.5)
    around = [(3, 8), (12, 8), (8, 3), (8, 12)]  # too near the rim
    assert [align._sought(seen, seen, np.array(at, float), np.zeros(2), 2, 2) for at in around] == [None] * 4
    for far in ((2, 0), (-2, 0), (0, 2), (0, -2)):  # at the edge of what is searched
        shown = np.roll(seen, far, (0, 1))
        assert align._sought(seen, shown, np.array((8.0, 8)), np.zeros(2), 2, 2) is None
        assert align._sought(seen, shown, np.array((8.0, 8)), np.array(far[::-1]) / 2, 2, 2) is not None


def test_signatures(monkeypatch):
    monkeypatch.setattr(knowledge, "_network", lambda: None)  # as where MI-GAN's weights are not
    given = {
        "honesty": Scorer("cpu", "float32", {}).signature,
        "edits": SIGNATURE,
        "registration": measure.signature,
        "half-life": intervals.RESAMPLES,
    }
    keep("signatures", given | {"engine": results._engine_signature(SimpleNamespace(size="512x768"))})


def test_damages():
    shown, model, found = textured(300, 360), random_model("alex"), {}
    reference = damage.prepare(model, shown)
    for move in MOVES[:4]:
        back = moved(shown, *move)
        back[200:250, 80:170] = (90, 120, 60)
        worst, polygons = damage.compare(model, reference, back)
        found[f"{move}"] = [worst, len(polygons), *polygons]
        assert all(np.array_equal(corners, np.round(corners, 4)) for corners in polygons)
    keep("damage", found, OF_PICTURES)


def disc(shown, colour, at=(0.4, 0.35), size=0.12, opacity=1.0):
    height, width = shown.shape[:2]
    y, x = np.mgrid[:height, :width]
    inside = (y - at[0] * height) ** 2 + (x - at[1] * width) ** 2 < (size * min(height, width)) ** 2
    return np.where(inside[..., None], shown + opacity * (np.array(colour) - shown), shown).astype(np.uint8)


def rounds_of_edits():
    """Cycles with the pictures of a round, from the return before it on."""
    start = textured(300, 360)
    red, both = disc(start, (220, 30, 40)), disc(disc(start, (220, 30, 40)), (30, 60, 220), (0.7, 0.75), 0.1)
    blue, left = disc(start, (30, 60, 220), (0.7, 0.75), 0.1), disc(start, (220, 30, 40), opacity=0.5)
    small, moved_back = disc(start, (220, 30, 40), size=0.025), moved(start, 6, -5, 1.03)
    grey = np.repeat(cv2.cvtColor(start, cv2.COLOR_RGB2GRAY)[..., None], 3, 2)
    pale, green = (
        (grey + 0.3 * (start.astype(float) - grey)).astype(np.uint8),
        disc(start, (60, 180, 60), size=2, opacity=0.12),
    )
    soft = cv2.GaussianBlur(start, (0, 0), 3)
    sharp = np.clip(start + 1.5 * (start - cv2.GaussianBlur(start, (0, 0), 1.5).astype(float)), 0, 255).astype(
        np.uint8
    )
    turned = [np.ascontiguousarray(np.rot90(start, -n)) for n in range(5)]
    flipped = np.ascontiguousarray(start[:, ::-1])
    mirrored = np.ascontiguousarray(np.hstack([start[:, :180], start[:, 179::-1]]))
    adds, paints = ("add a red ball", "remove the red ball"), ("make the ball blue", "undo it")
    nested = ("add a red ball", "add a blue hat", "remove the blue hat", "remove the red ball")
    crossed = (*nested[:2], nested[3], nested[2])
    monochrome, tint = ("turn the image monochrome", "color it"), ("make it a bit greener", "take the green away")
    blurs, sharpens = ("blur the image", "sharpen it again"), ("sharpen the image", "blur it again")
    turns, flips = ("rotate the image by 90 degrees clockwise",) * 4, ("flip horizontally", "flip it back")
    yield from [(adds, [start, red, back]) for back in (start, red, left, small, blue, moved_back, soft, None)]
    yield from [(adds, [start, small, start]), (adds, [start, start, start]), (adds, [red, blue, red])]
    yield from [
        (paints, [start, blue, start]),
        (("add a ball", "make it gold", "undo"), [start, red, both, start]),
    ]
    yield from [(nested, [start, red, both, red, back]) for back in (start, red)]
    yield from [(crossed, [start, red, both, blue, start]), (crossed, [start, red, left, red, start])]
    for forward in (grey, pale, start):
        yield from [(monochrome, [start, forward, back]) for back in (start, pale)]
    yield from [(tint, [start, green, back]) for back in (start, green)] + [(tint, [grey, start, grey])]
    for cycle, forward in ((blurs, soft), (sharpens, sharp), (blurs, sharp), (sharpens, start)):
        yield from [(cycle, [start, forward, back]) for back in (start, soft)]
    yield (flips[0], adds[0], "undo both"), [start, flipped, disc(flipped, (220, 30, 40)), start]
    yield from [(turns, turned), (turns, [*turned[:2], *turned[1:4]])]
    yield from [(flips, [start, flipped, start]), (flips, [start, start, start]), (flips, [mirrored] * 3)]
    yield from [(("copy it",), [start, soft]), (("make it night", "make it day"), [start, pale, start])]


@pytest.mark.parametrize("part", range(6))
def test_edits(part):
    found, source = {}, seen(disc(textured(300, 360), (200, 200, 40), (0.8, 0.2), 0.08))
    noise = np.random.default_rng(1).normal(3, 5, (300, 360, 3))
    for number, (cycle, pictures) in list(enumerate(rounds_of_edits()))[part::6]:
        if number % 4 > 1 and pictures[-1] is not None:
            pictures[-1] = np.clip(pictures[-1] + noise, 0, 255).astype(np.uint8)
        shown = [picture if picture is None else seen(picture) for picture in pictures]
        options = (
            [{}] if number % 8 < 5 else [{"source": source, "small": True, "meaning": [0.2, 0.5, 0.3, 0.1, 0.2]}]
        )
        if number == 5:
            options.append({"placement": (6 / 360, -5 / 300, 1.03)})
        for place, option in enumerate(options):
            steps = [judge_step(cycle, True, k, shown, **option) for k in range(1, len(shown))]
            found[f"{number}, {place}"] = [list(step.values()) for step in steps]
    adding = [judge_step(("add a {thing}",) * 2, False, k, [source] * 3) for k in (1, 2)]
    adding.append(judge_step(("add a hat", "remove it"), True, 2, [source] * 2, source=source))
    keep(f"edits {part}", found | {"only adds": [list(step.values()) for step in adding]}, OF_PICTURES)


@pytest.mark.parametrize(
    ("small", "cells", "changed"), [(False, 3, 1), (False, 2, 0), (True, 1, 1), (True, 0, 0)]
)
def test_an_edit_of_exactly_the_least_share_counts(monkeypatch, small, cells, changed):
    grid = np.zeros((10, 100, 3), np.float32)
    region = np.arange(1000).reshape(10, 100) < cells
    monkeypatch.setattr(judge, "find_edit", lambda *looks, limit: ((region * 20.0, grid, 0.0), region))
    judged = judge._judge_forward(grid, grid, small=small, meaning=(0.5, 0.5))
    assert (judged["changed"], judged["as_asked"]) == (changed, 0)  # nearer to the words is more than as near
    assert judge.cosine([2.0, 0.0], [3.0, 3.0]) == pytest.approx(0.5**0.5)  # whatever the lengths
    red = np.float32([53, 80, 67])
    assert judge._moved_towards(red, grid, grid + red, np.arange(1000).reshape(10, 100) < 1)


def test_what_is_left_of_an_edit():
    rng, region = np.random.default_rng(5), np.zeros((20, 24), bool)
    size, edit = rng.gamma(1, 4, (20, 24)).astype(np.float32), rng.normal(0, 6, (20, 24, 3)).astype(np.float32)
    region[5:12, 6:15] = True
    left = [
        judge._left((size, edit, 0.0), cells, tone)[0]
        for cells in (region, ~region, region | True)
        for tone in (0, 1)
    ]
    explained = [
        judge._explained_by(edit, share * edit + rng.normal(0, noise, edit.shape).astype(np.float32), region)
        for share in (0, 0.4, 1, 1.4) for noise in (0, 2, 9)
    ]  # fmt: skip
    colour = np.float32([53, 80, 67])
    towards = [
        judge._moved_towards(colour, 0 * edit, turned * colour + edit * spread, region & (rng.random((20, 24)) < 0.1))
        for turned in (-1, 0, 0.02, 1) for spread in (0.1, 1, 6)
    ]  # fmt: skip
    slanted = np.tile(np.float32([1, 2.5, -3]), (20, 24, 1))  # a cosine of 0.35 with the colour
    towards.append(judge._moved_towards(colour, 0 * edit, slanted, region))
    keep("left of an edit", {"left": left, "explained": explained, "towards": towards}, OF_PICTURES)


def test_changes_of_the_whole_picture():
    start = textured(300, 360)
    disced, found = disc(start, (220, 30, 40), size=0.2), {}
    for strength in (0.3, 1, 3):
        end = np.clip(disced * (1 + strength * np.array([0.06, -0.03, -0.1])) + 3 * strength, 0, 255).astype(
            np.uint8
        )
        cells = look(start)
        shift = whole_picture._recoloured(cells, look(end)) - cells
        found[f"recoloured by {strength}"] = [*shift.mean(axis=(0, 1)), *shift.std(axis=(0, 1))]
    for name, transform in whole_picture.TRANSFORMS.items():
        end = np.clip(transform(disced) * [1.15, 0.95, 0.85] + 4, 0, 255).astype(np.uint8)
        seen_end, turns = look(end), {"rotate 90", "rotate 270"}
        found[name] = [whole_picture.find_transform(look(start), seen_end, asked) for asked in ({name}, turns)]
        found[name].append(
            whole_picture.transform_undone(look(start), look(start[:, ::-1].copy()), seen_end, look(start))
        )
    greys = [whole_picture.grey(start)]
    for sigma in (0.5, 0.8, 1.5, 4):
        greys.append(
            whole_picture.grey(np.roll(cv2.GaussianBlur(start, (0, 0), sigma) * 0.8 + 9, 3, 1).astype(np.uint8))
        )
    gains = [whole_picture._gain(greys[0], grey) for grey in greys] + [
        whole_picture._gain(grey, greys[0]) for grey in greys
    ]
    edits = [
        whole_picture.sharpness_edit(verb, greys[0], made, [greys[0], greys[1]], greys[2])
        for verb in ("blur", "sharpen") for made in greys[1:]
    ]  # fmt: skip
    for what in ("grey", "green", "blu", "pink", "yellow"):
        for colour in ((60, 200, 60), (128, 128, 128), (40, 60, 220)):
            looks = [look(disc(start, colour, size=3, opacity=opacity)) for opacity in (0, 0.15, 0.6, 0.35, 0.05)]
            for made in looks[1:4]:
                edits.append(whole_picture.colour_edit(what, looks[0], made, [looks[0], looks[4]], looks[4]))
    shares = [(made, left()) for made, left in filter(None, edits)]
    keep("whole picture", found | {"gains": gains, "edits": shares}, OF_PICTURES)


def test_changes_of_all_colours_begin_at_their_limits():
    def made(what, end, start=(50, 10, 0)):
        cells, after = (np.full((8, 8, 3), colour, np.float32) for colour in (start, end))
        edit = whole_picture.colour_edit(what, cells, after, [cells], after)
        return edit and (edit[0], round(edit[1](), 6))

    assert [made("grey", (50, a, 0)) for a in (5, 5.1)] == [(True, 1), (False, 1)]
    assert [made("grey", (50, 0, b), (50, 0, 10)) for b in (5, 5.1)] == [(True, 1), (False, 1)]
    assert [made("grey", (50, 0, 0), (50, a, 0)) for a in (2, 1.9)] == [(True, 1), None]
    assert [made("pink", (50, 10 + a, 0))[0] for a in (2, 1.99)] == [True, False]
    hues = {"redd": 40, "orang": 65, "yellow": 100, "green": 140, "blu": 285, "purpl": 320, "pink": 0}  # in Lab
    for what, hue in hues.items():
        for beside in (-60.4, -59.6, 59.6, 60.4):
            way = np.deg2rad(hue + beside)
            assert made(what, (50, 10 + 3 * np.cos(way), 3 * np.sin(way)))[0] == (abs(beside) < 60)


INSTRUCTIONS = (
    "rotate the image", "turn the picture upside down", "rotate it by half a turn", "rotate it a quarter to the left",
    "rotate by 270 degrees to the right", "rotate 270 degrees counterclockwise", "please turn it 90 degrees clockwise",
    "flip top to bottom", "mirror the image vertically", "flip upside down", "flip it", "add a mirror", "unblur it",
    "sharpen the blurred image", "blur", "make it purpler", "convert to grey", "make a green hat", "turn it redder",
)  # fmt: skip


def test_words_and_roles():
    found = {
        text: [
            sorted(name.replace(" ", "_") for name in asked_transforms(text)),
            whole_picture.asked_sharpness([text]), whole_picture.asked_colour(text),
        ]
        for text in INSTRUCTIONS
    }  # fmt: skip
    a, b, c = ("add a hat", "add a dog", "add a cup")
    undo_a, undo_b, undo_c = ("remove the hat", "remove the dog", "remove the cup")
    cycles = (
        (a,), (a, undo_a), (a, b, undo_a, undo_b), (a, b, undo_b, undo_a), (a, b, "undo all"), (a, b, "x", "y"),
        (a, b, c, undo_a, undo_b, undo_c), (a, b, c, undo_c, undo_b, undo_a), ("flip horizontally",) * 4,
        ("flip horizontally", a, undo_a, "flip horizontally"), (*(a, b, c), "remove the cup", undo_b, undo_a),
        ("add a tall hat", b, c, "remove the tall hat and cup", undo_b, undo_a),
    )  # fmt: skip
    for cycle in cycles:
        found[" ".join(cycle)] = [roles(cycle, closes) for closes in (True, False)]
    adds = ("add a red ball", "put a red hat on", "make the ball red", "add a green and a red ball")
    found["colours"] = [judge._named_colour(texts) for texts in combinations(adds, 2)]
    found["tones"] = [
        judge._asks_for_tone(text) for text in ("make it night", "add a dark ball", "make it bigger")
    ]
    keep("words", found)


def test_knowledge(monkeypatch):
    monkeypatch.setattr(knowledge, "_network", lambda: None)
    scorer, source = Scorer("cpu", "float32", {}), textured(280, 300, 4)
    ball, found = ["add a red ball", "remove the red ball"], {}
    forward, far = disc(source, (215, 30, 40)), disc(source, (215, 30, 40), (0.75, 0.75), 0.15)
    guess, weak = cv2.GaussianBlur(source, (0, 0), 9), disc(source, (215, 30, 40), opacity=0.3)
    marks = [[0.7, 0.75, 0.3, 0.8], [0.8, 0.2, 0.15, 0.6]]
    discs = [look(disc(source, (215, 30, 40), size=size)) for size in np.arange(1, 12) / 100]
    found["covered cells"] = [int(knowledge.covered_cells(look(source), shown)[0].sum()) for shown in discs]
    cases = {
        "knows": ([source, forward, source], ball, []), "guesses": ([source, forward, guess], ball, []),
        "moved": ([source, forward, moved(source, 3, -2, 1.01)], ball, []), "weak": ([source, weak, source], ball, []),
        "later": ([source, far, source], ball, [source, forward]),
        "same": ([source, forward, source], ball, [source, forward]),
        "gone": ([source, None, source], ball, []), "lost": ([source, far, source], ball, [source, None]),
        "flat": ([guess // 16, disc(guess // 16, (215, 30, 40)), guess // 16], ball, []),
        "tone": ([source, weak, source], ["make it night", "make it day"], []),
        "nested": ([source, forward, far, forward, source], [ball[0], "add a cup", "remove the cup", ball[1]], []),
        "smaller": ([source, forward, cv2.resize(source, (240, 250))], ball, []), "none": ([source] * 3, ball, []),
    }  # fmt: skip
    for name, (pictures, cycle, earlier) in cases.items():
        kept = [picture if picture is None else scorer.reduce(picture) for picture in pictures]
        before = [picture if picture is None else scorer.reduce(picture) for picture in earlier]
        program = {"cycle": cycle, "closes": True, "round": 1 + len(earlier) // 2, "earlier": before}
        program["audits"] = [None if position % 2 else {"marks": marks} for position in range(1, len(pictures))]
        for position in range(1, len(pictures)):
            values = scorer.judge(program, position, kept, scorer.reduce(source))
            found |= {f"{name}, {position}, {column}": [value] for column, value in values.items()}
    hole = np.zeros((280, 300), bool)
    hole[90:150, 60:140] = True
    for part, shown in enumerate((source, guess)):
        filled = knowledge._fillings(shown, hole)
        found |= {f"filling {part} {n}": filling[hole].mean(axis=0) for n, filling in enumerate(filled)}
    seen = [
        knowledge._seen_through(*map(knowledge._grey, (source, after))) for after in (forward, weak, far, guess)
    ]
    seen.append(knowledge._seen_through(*[knowledge._grey(cv2.GaussianBlur(source, (0, 0), 3))] * 2))
    found |= {f"seen through {n}": [cells.sum()] for n, cells in enumerate(seen)}
    found["alike"] = [
        knowledge._correlations(source, picture, hole) for picture in (guess, weak, moved(source, 3, -2, 1.01))
    ]
    keep("knowledge", found, OF_PICTURES)
