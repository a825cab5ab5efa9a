"""The outcome of one chain: the rounds it kept and the cause of its loss. Plain Python, without numpy."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from .causes import CAUSES, END_CAUSES, Limits

ENDS = ("complete", *END_CAUSES, "failed")  # only "failed" and "complete" censor
QUALITIES = ("rmse", "ssim", "lpips")

Values = Sequence[float | None]


@dataclass(frozen=True)
class Outcome:
    """The last good round, the first bad one (None if there was none), and the cause."""

    kept: int
    lost_at: int | None = None
    cause: str | None = None
    failed: bool = False  # ended by a technical failure before anything was lost: a missing case

    @property
    def time(self) -> int:
        return self.kept if self.lost_at is None else self.lost_at

    @property
    def lost(self) -> bool:
        return self.lost_at is not None

    @property
    def rounds_kept(self) -> int | None:
        """What editors are compared by; None if a technical failure left the case open."""
        return None if self.failed else self.kept

    @property
    def text(self) -> str:
        """'4', '(5, 10]' if rounds between were not measured, '>20' if nothing was lost."""
        return f">{self.kept}" if self.lost_at is None else bracket_text(self.kept, self.lost_at)


def bracket_text(kept: int, lost_at: int) -> str:
    return str(lost_at) if lost_at == kept + 1 else f"({kept}, {lost_at}]"


def is_measured(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def curve_outcome(
    values: Values,
    rounds: Sequence[int],
    threshold: float = 0.5,
    better: str = "higher",
    end: str = "complete",
    end_round: int | None = None,
) -> Outcome:
    """The outcome of one metric's curve: lost in the first measured round whose value is past the threshold.

    A refusal after the last value is a loss in the round it came in (`end_round`, or the next of `rounds`).

    >>> curve_outcome([0.9, 0.7, None, 0.4], [1, 2, 3, 5])
    Outcome(kept=2, lost_at=5, cause='below the threshold', failed=False)
    """
    sign = 1 if better == "higher" else -1
    kept = 0
    for round, value in zip(rounds, values, strict=False):
        if not is_measured(value):
            continue
        if sign * (value - threshold) < 0:  # type: ignore[operator]
            return Outcome(kept, round, "below the threshold" if sign > 0 else "above the threshold")
        kept = round
    return _ended(kept, rounds, end, end_round)


def _ended(kept: int, rounds: Sequence[int], end: str, end_round: int | None) -> Outcome:
    if end not in END_CAUSES:
        return Outcome(kept, failed=end == "failed")
    next_round = next((round for round in rounds if round > kept), kept + 1)
    return Outcome(kept, next_round if end_round is None else max(end_round, kept + 1), END_CAUSES[end])


def convergence(
    rounds: Sequence[int],
    values: Mapping[str, Sequence[Values]],
    end: str = "complete",
    end_round: int | None = None,
    limits: Limits = Limits(),  # noqa: B008 - a tuple
    left_out: Mapping[str, Container[int]] | None = None,
) -> Outcome:
    """The headline: rounds kept before the first loss of any kind, and the first cause in the order of CAUSES.

    `values` has the series of each cause that is checked. A round in which
    something was not measured is kept only if a later round is good.
    `left_out` has rounds, by cause, in which only the other checks decide.
    """
    undecided: Mapping[str, Container[int]] = left_out or {}
    checked = [(CAUSES[name], values[name], undecided.get(name, ())) for name in CAUSES if name in values]
    kept = 0
    for place, round in enumerate(rounds):
        judged = []
        for cause, lists, rounds_left_out in checked:
            if round in rounds_left_out:
                continue
            for series in lists:
                value = series[place] if place < len(series) else None  # a chain that ended earlier has none
                if is_measured(value) and cause.is_lost(value, limits):  # type: ignore[arg-type]  # not None
                    return Outcome(kept, round, cause.name)
                if cause.leaves_open:
                    judged.append(is_measured(value))
        if judged and all(judged):
            kept = round
    return _ended(kept, rounds, end, end_round)


def convergence_name(checked: Sequence[str]) -> str:
    """The headline's name with what it did not check: without CLIP, 'convergence (no meaning check)'."""
    missing = [f"no {name.upper()}" for name in QUALITIES if name not in checked]
    missing += ["no damage check"] * ("part" not in checked) + ["no meaning check"] * ("clip" not in checked)
    return f"convergence ({', '.join(missing)})" if missing else "convergence"
