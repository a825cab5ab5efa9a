"""What three people said of edited pictures, and which level of a metric means that they call a picture damaged.

A threshold is fitted on all editors but one and tested on that one. Limits are those of a bootstrap over pictures:
answers that begin at one photograph are drawn together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from scipy.stats import spearmanr

DRAWS = 1000
LEVELS = 200  # thresholds tried: quantiles of the values fitted on
DAMAGED = {"obvious damage": 0.0, "any flaw": 0.5}  # a rater's perceptual score is at most this


@dataclass(frozen=True)
class Answers:
    """Some editors' answers: who made each, from which photograph, and the perceptual scores of the raters."""

    editors: np.ndarray
    photographs: np.ndarray
    scores: np.ndarray  # raters x answers, 0 to 1

    def called(self, limit: float) -> np.ndarray:
        """Whether most raters call each answer damaged."""
        return (self.scores <= limit).mean(axis=0) > 0.5


@dataclass(frozen=True)
class Fit:
    """A threshold that was fitted on some editors and tested on another."""

    tested: str
    threshold: float
    threshold_limits: tuple[float, float]
    accuracy: float  # balanced: the mean of the shares of damaged and of sound answers that are called rightly
    accuracy_limits: tuple[float, float]


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    return float(spearmanr(one, other).statistic)


def between_raters(scores: np.ndarray) -> list[float]:
    """Spearman of each two raters."""
    return [spearman(scores[one], scores[other]) for one, other in combinations(range(len(scores)), 2)]


def rater_accuracy(answers: Answers, limit: float) -> float:
    """The balanced accuracy of one rater for what another calls damaged, over all ordered pairs: what a metric can
    hope for."""
    calls = answers.scores <= limit
    pairs = list(permutations(range(len(calls)), 2))
    return float(np.mean([balanced_accuracy(calls[one], calls[other]) for one, other in pairs]))


def balanced_accuracy(said: np.ndarray, truth: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The mean of two shares: of the true that are said to be true, and of the false that are said to be false."""
    weight = np.ones(len(truth)) if weights is None else weights
    shares = [weight[side & (said == truth)].sum() / max(weight[side].sum(), 1e-12) for side in (truth, ~truth)]
    return float(np.mean(shares))


def fit(values: np.ndarray, truth: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The level above which `values` say "damaged" best, for each row of weights (draws x answers)."""
    above = values > levels[:, None]  # levels x answers
    right_damaged = (weights * truth) @ above.T / np.maximum((weights * truth).sum(1), 1e-12)[:, None]
    right_sound = (weights * ~truth) @ (~above).T / np.maximum((weights * ~truth).sum(1), 1e-12)[:, None]
    return levels[np.argmax(right_damaged + right_sound, axis=1)]


def leave_one_editor_out(answers: Answers, values: np.ndarray, limit: float, seed: int = 0) -> list[Fit]:
    """One fit for each editor, tested on it; larger values must mean more damage."""
    truth, known = answers.called(limit), ~np.isnan(values)
    found = []
    for editor in sorted(set(answers.editors[known].tolist())):
        test = known & (answers.editors == editor)
        train = known & ~test
        if not train.any() or len(set(truth[train].tolist())) < 2 or len(set(truth[test].tolist())) < 2:
            continue
        levels = np.quantile(values[train], np.linspace(0, 1, LEVELS))
        weights = drawn_weights(answers.photographs, np.random.default_rng(seed))
        fitted = fit(values[train], truth[train], weights[:, train], levels)
        tested = [
            balanced_accuracy(values[test] > level, truth[test], weight[test])
            for level, weight in zip(fitted, weights, strict=True)
        ]
        found.append(
            Fit(editor, float(fitted[0]), limits(fitted[1:]), tested[0], limits(tested[1:])),
        )
    return found


def drawn_weights(photographs: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """How often each answer counts: once in the first row, then as often as its photograph was drawn."""
    names, place = np.unique(photographs, return_inverse=True)
    drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
    return np.concatenate([np.ones((1, len(photographs))), drawn[:, place]])


def limits(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def holds_up(fits: Sequence[Fit], people: Mapping[str, float]) -> tuple[bool, str]:
    """Whether a threshold carries over to editors it was not fitted on, and the sentence that says so.

    Asked in advance: at least three editors; on each of them better than chance with its limits; no more than 0.05
    below what one rater reaches for another; and each fit's threshold within the limits of the others.
    """
    worst = min(fits, key=lambda each: each.accuracy_limits[0])
    if worst.accuracy_limits[0] <= 0.5:
        low, high = worst.accuracy_limits
        return False, f"on {worst.tested} it is no better than chance ({worst.accuracy:.2f}, {low:.2f} to {high:.2f})"
    if len(fits) < 3:
        return False, f"{len(fits)} editors are too few to leave one out; three are needed"
    short = min(fits, key=lambda each: each.accuracy - people[each.tested])
    if short.accuracy < people[short.tested] - 0.05:
        return False, f"on {short.tested} it reaches {short.accuracy:.2f} where raters reach {people[short.tested]:.2f}"
    for one, other in permutations(fits, 2):
        if not other.threshold_limits[0] <= one.threshold <= other.threshold_limits[1]:
            return (
                False,
                f"without {one.tested} the threshold is {one.threshold:.2f}, "
                f"without {other.tested} {other.threshold:.2f}",
            )
    return True, f"on each of {len(fits)} editors it is about as right as a rater"
