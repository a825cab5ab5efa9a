"""What became of one chain: the rounds it kept, and what it was lost to. Plain Python, no numbers library."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

ENDS = ("complete", "shrunk", "refused", "no_image", "failed")  # only "failed" and "complete" censor

# In the order in which they count where several happen in one round.
FAILED = "technical failure"  # a loss wherever editors are compared; `curve_outcome` alone censors it
CAUSES = (
    *("not applied", "not undone", "quality lost", "part lost", "framing lost", "meaning lost"),
    *("refused", "no image", "shrunk", FAILED),
)
END_CAUSES = {"refused": "refused", "no_image": "no image", "shrunk": "shrunk"}
QUALITIES = ("rmse", "ssim", "lpips")

Values = Sequence[float | None]


@dataclass(frozen=True)
class Outcome:
    """The last good round, the first bad one (None if there was none), and the cause."""

    kept: int
    lost_at: int | None = None
    cause: str | None = None
    failed: bool = False  # ended by a technical failure before anything was lost: a missing case
    crossing: float | None = None  # where the line between the last good and the first bad value is crossed

    @property
    def time(self) -> int:
        """The round of the loss, or how far the chain was followed."""
        return self.kept if self.lost_at is None else self.lost_at

    @property
    def lost(self) -> bool:
        return self.lost_at is not None

    @property
    def rounds_kept(self) -> int | None:
        """What two editors are compared by; None where a technical failure left the case open."""
        return None if self.failed else self.kept

    @property
    def text(self) -> str:
        """'4', '(5, 10]' where rounds between were not measured, '>20' where nothing was lost."""
        if self.lost_at is None:
            return f">{self.kept}"
        return str(self.lost_at) if self.lost_at == self.kept + 1 else f"({self.kept}, {self.lost_at}]"


def known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def next_round(rounds: Sequence[int], last: int) -> int:
    """The round in which a chain ended that was last measured after `last` rounds."""
    return next((each for each in rounds if each > last), last + 1)


def curve_outcome(
    values: Values,
    rounds: Sequence[int],
    threshold: float = 0.5,
    better: str = "higher",
    start: float | None = 1.0,
    end: str = "complete",
    end_round: int | None = None,
) -> Outcome:
    """The outcome of one metric's curve: lost in the first measured round whose value is past the threshold.

    Missing values are rounds that were not measured. A refusal after the last value is a loss in the round it came
    in (`end_round`, or the next of `rounds`); a technical failure, and the end, are not. `start` is the value
    before round 1, where one is known; it serves the crossing alone.

    >>> curve_outcome([0.9, 0.7, None, 0.4], [1, 2, 3, 5])
    Outcome(kept=2, lost_at=5, cause='below the threshold', failed=False, crossing=4.0)
    """
    sign = 1 if better == "higher" else -1
    kept, last_value = 0, start
    for round, value in zip(rounds, values, strict=False):
        if not known(value):
            continue
        if sign * (value - threshold) < 0:  # type: ignore[operator]
            way = None if last_value is None else (last_value - threshold) / (last_value - value)  # type: ignore[operator]
            crossing = None if way is None else kept + (round - kept) * way
            return Outcome(kept, round, "below the threshold" if sign > 0 else "above the threshold", crossing=crossing)
        kept, last_value = round, value
    return ended(kept, rounds, end, end_round)


def ended(kept: int, rounds: Sequence[int], end: str, end_round: int | None) -> Outcome:
    """The outcome of a chain in which every measured round was good."""
    if end not in END_CAUSES:
        return Outcome(kept, failed=end == "failed")
    lost_at = next_round(rounds, kept) if end_round is None else max(end_round, kept + 1)
    return Outcome(kept, lost_at, END_CAUSES[end])


def convergence(
    rounds: Sequence[int],
    retained: Mapping[str, Values],
    applied: Sequence[bool | None] | None = None,
    undone: Sequence[bool | None] | None = None,
    part_lost: Sequence[bool | None] | None = None,
    end: str = "complete",
    end_round: int | None = None,
    threshold: float = 0.5,
    left_out: Mapping[str, Container[int]] | None = None,
    framed: Sequence[bool | None] | None = None,
) -> Outcome:
    """The headline: rounds kept before the first loss of any kind, and the first cause in the order of CAUSES.

    One value per round everywhere. `retained` holds rmse, ssim, lpips and clip on the 0 to 1 scale; what is not
    there at all is not checked (see `convergence_name`), and so are `applied` and `undone` for programs that ask for
    no change. A round in which something checked elsewhere could not be measured is not counted as kept unless a
    later round is good. `left_out` names, by cause, the rounds in which nobody can tell whether a case was lost to it:
    there the other checks decide. `framed` says whether the picture still shows the same cut-out, if that is asked for;
    where nobody can tell, the other checks decide as well.
    """
    parts_left = None if part_lost is None else [None if lost is None else not lost for lost in part_lost]
    checks: list[tuple[str, Values | None, float]] = [  # what has to reach how much
        ("not applied", applied, 0.5),
        ("not undone", undone, 0.5),
        *(("quality lost", retained.get(name), threshold) for name in QUALITIES),
        ("part lost", parts_left, 0.5),
        ("framing lost", framed, 0.5),
        ("meaning lost", retained.get("clip"), threshold),
    ]
    asked = [(cause, values, least) for cause, values, least in checks if values is not None]
    unknown: Mapping[str, Container[int]] = left_out or {}
    kept = 0
    for place, round in enumerate(rounds):
        judged = []
        for cause, values, least in asked:
            if round in unknown.get(cause, ()):
                continue
            good = verdict(at(values, place), least)
            if good is False:
                return Outcome(kept, round, cause)
            if cause != "framing lost":  # the other checks decide where nobody can tell
                judged.append(good)
        if judged and None not in judged:
            kept = round
    return ended(kept, rounds, end, end_round)


def at(values: Sequence, place: int) -> float | None:
    """The value of a round; a chain that ended earlier has none."""
    return values[place] if place < len(values) else None


def verdict(value: float | None, threshold: float) -> bool | None:
    return value >= threshold if known(value) else None  # type: ignore[operator]


def convergence_name(checked: Sequence[str]) -> str:
    """The headline's name says what it did not check: without CLIP, 'convergence (no meaning check)'.

    `checked` names what was measured: rmse, ssim, lpips, part_lost, clip. Two names never share a table.
    """
    missing = [f"no {name.upper()}" for name in QUALITIES if name not in checked]
    missing += ["no part check"] * ("part_lost" not in checked) + ["no meaning check"] * ("clip" not in checked)
    return f"convergence ({', '.join(missing)})" if missing else "convergence"
