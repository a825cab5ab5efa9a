"""From cases to fates: what is checked, and the rounds kept under a threshold up to a horizon."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from convergebench.metric_modules.halflife.fates import Fate, convergence, convergence_name, curve_fate

from .cases import QUALITIES, RETAINED, Case, Values

CHECKS = ("edits", "rmse", "ssim", "lpips", "worst_tile", "clip")
COVERED = 0.9  # of an editor's returns; a metric that reaches fewer is no part of a table
HALF = 0.5
KNOWN_ENDS = ("identity", "random", "oracle")
TRANSPORT = ("jpeg", "webp", "resize", "vae", "blur", "noise", "tint")
ROLES = {"editor": "editors", "recall": "editors with confirmed recall", "reference": "reference rows"}

Key = tuple[str, str, int]  # of a case: source, program, run


def role(editor: str, recalling: Iterable[str] = ()) -> str:
    """An editor under test, one that was found to remember, or a row that only says where the scale begins and ends."""
    if editor.partition(":")[0] in KNOWN_ENDS + TRANSPORT:
        return "reference"
    return "recall" if editor in recalling else "editor"


@dataclass(frozen=True)
class Field:
    """The cases of one group that a headline counts, by editor, and what is checked in all of them alike."""

    group: str
    cases: dict[str, list[Case]]
    checks: tuple[str, ...]
    partial: dict[str, list[str]]  # checks left out though some editors have them: check -> those editors

    @property
    def name(self) -> str:
        """The headline's name says what it did not check."""
        name = convergence_name([check for check in self.checks if check != "edits"])
        if "edits" in self.checks or self.group != "round trips":
            return name
        return name.replace("(", "(no edit check, ") if "(" in name else f"{name} (no edit check)"

    @property
    def rounds(self) -> int:
        return max(case.rounds for cases in self.cases.values() for case in cases)


def fields(cases: Iterable[Case], excluded: Sequence[str] = ()) -> dict[str, Field]:
    """The groups that have cases to count: none under audit, none of an excluded reference, none that only adds."""
    found: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        if case.audit is None and case.source not in excluded and case.group != "additions":
            found[case.group][case.editor].append(case)
    made = {}
    for group, editors in found.items():
        has = {editor: coverage(own) for editor, own in editors.items()}
        enough = {check: [editor for editor in editors if has[editor][check] >= COVERED] for check in CHECKS}
        checks = tuple(check for check in CHECKS if len(enough[check]) == len(editors))
        partial = {check: names for check, names in enough.items() if names and check not in checks}
        made[group] = Field(group, dict(sorted(editors.items())), checks, partial)
    return {group: made[group] for group in ("round trips", "replication", "restoration") if group in made}


def coverage(cases: Sequence[Case]) -> dict[str, float]:
    """For each check, the share of the measured returns for which it was computed."""
    returns = [(case, place) for case in cases for place in range(case.rounds) if any_value(case, place)]
    size = max(len(returns), 1)
    asked = [(case, place) for case, place in returns if case.applied is not None]
    shares = {name: sum(case.retained[name][place] is not None for case, place in returns) / size for name in RETAINED}
    floors = sum(case.worst_tile[place] is not None and case.lpips_floor is not None for case, place in returns)
    # What nobody can tell of a picture is no gap in the scores: one judgement shows that edits were judged at all.
    judged = any(case.applied[place] is not None for case, place in asked if case.applied)
    return shares | {"worst_tile": floors / size, "edits": float(judged or not asked)}


def any_value(case: Case, place: int) -> bool:
    return any(case.raw[name][place] is not None for name in ("psnr", "rmse", "ssim"))


def converged(case: Case, checks: Sequence[str], threshold: float = HALF, horizon: int | None = None) -> Fate:
    """The headline's fate of one case; one that was not measured to its end, though nothing was lost, is missing."""
    rounds = list(range(1, min(case.rounds, horizon or case.rounds) + 1))
    end, end_round = ending(case, rounds[-1])
    fate = convergence(
        rounds,
        {name: case.retained[name] for name in RETAINED if name in checks},
        case.applied if "edits" in checks else None,
        case.undone if "edits" in checks else None,
        case.worst_tile if "worst_tile" in checks else None,
        case.lpips_floor,
        end,
        end_round,
        threshold,
    )
    return settled(fate, rounds[-1])


def ending(case: Case, last: int) -> tuple[str, int | None]:
    """How the case ended as seen from a round: what came later had not happened yet."""
    if case.end_round is not None and case.end_round > last:
        return "complete", None
    return case.end, case.end_round


def settled(fate: Fate, last: int) -> Fate:
    return replace(fate, failed=True) if not fate.lost and fate.kept < last else fate


def of_curve(case: Case, values: Values, threshold: float = HALF, horizon: int | None = None) -> Fate:
    """The fate of one retained metric, over all measured rounds, whatever ended convergence."""
    rounds = list(range(1, min(case.rounds, horizon or case.rounds) + 1))
    end, end_round = ending(case, rounds[-1])
    fate = curve_fate(values[: len(rounds)], rounds, threshold, end=end, end_round=end_round)
    return settled(fate, rounds[-1])


def quality(case: Case, checks: Sequence[str]) -> Values:
    """The lowest retained quality of those that are checked, round by round; empty where none is."""
    lists = [case.retained[name] for name in QUALITIES if name in checks]
    return [None if None in values else min(values) for values in zip(*lists, strict=True)]


def kept(fates: Mapping[Key, Fate], horizons: Mapping[Key, int]) -> dict[Key, float | None]:
    """Rounds kept up to each case's horizon; None where a technical failure left it open before that."""
    return {key: horizons[key] if fate.kept >= horizons[key] else fate.rounds_kept for key, fate in fates.items()}
