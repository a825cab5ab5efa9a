"""What was measured and how, in numbers for a table and in a paragraph that a paper can paste."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.comparison import EXACT_UP_TO, LEVEL
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.scores import signature_of, signature_texts

from ..study.cases import Case
from ..study.groups import CHECKS, CaseGroup, coverage
from ..study.tables import Column, Table, format_value

WHAT = {
    "edits": "whether edits were made and taken back",
    "rmse": "RMSE",
    "ssim": "SSIM",
    "lpips": "LPIPS",
    "worst_tile": "the worst part by LPIPS",
    "clip": "meaning by CLIP",
}
COLUMNS = (Column("fact", "Fact"), Column("value", "Value"))


def facts(
    cases: Sequence[Case],
    left_out: Sequence[str],
    excluded: Sequence[str],
    groups: Mapping[str, CaseGroup],
    outcomes: Mapping[str, Mapping[str, Sequence[Outcome]]],
    scores: Sequence[Mapping[str, Any]],
    floors: Sequence[Mapping[str, Any]],
    threshold: float,
) -> Table:
    """Everything the methods paragraph says, one fact a row."""
    found: dict[str, Any] = {
        "suite": ", ".join(sorted({case.suite for case in cases})),
        "editors": len({case.editor for case in cases}),
        "chains": len(cases),
        "chains that count twice or have no scores": len(left_out),
        "chains under audit": sum(case.audit is not None for case in cases),
        "score rows": len(scores),
        "floor pairs": len(floors),
        "sources": len({case.source for case in cases}),
        "excluded sources": ", ".join(excluded) or "none",
        "threshold": f"{threshold:g}",
        "level": LEVEL,
        "limits": "95%",
        "growth exponents": "0 jitter, 1 random walk, 2 drift",
        "sources for a verdict": EXACT_UP_TO,
    }
    for end, count in sorted(Counter(case.end for case in cases).items()):
        found[f"chains that ended {end}"] = count
    for name, own in groups.items():
        every = [case for editor in own.cases.values() for case in editor]
        missing = sum(outcome.failed for editor in outcomes[name].values() for outcome in editor)
        covered = coverage(every)
        found |= {
            f"{name}: headline": own.headline,
            f"{name}: cases": len(every),
            f"{name}: sources": len({case.source for case in every}),
            f"{name}: programs": len({case.program for case in every}),
            f"{name}: rounds": own.rounds,
            f"{name}: missing cases": missing,
            f"{name}: checks": ", ".join(own.checks),
            f"{name}: checks that only some editors have": ", ".join(own.partial) or "none",
        }
        found |= {f"{name}: coverage of {check}": format_value(covered[check], "share") for check in CHECKS}
    different = {row.get("signature") for row in scores}
    signatures = sorted({text for one in different for text in signature_texts(signature_of({"signature": one}))})
    for number, signature in enumerate(signatures, 1):
        found[f"signature {number}"] = signature
    return Table("facts", "What was measured", COLUMNS, [{"fact": key, "value": value} for key, value in found.items()])


def paragraph(table: Table) -> str:
    """The facts in sentences for a paper, in Markdown."""
    known = {row["fact"]: row["value"] for row in table.rows}
    groups = [name.partition(":")[0] for name in known if name.endswith(": headline")]
    signatures = [str(value) for name, value in known.items() if name.startswith("signature ")]
    parts = [measured(known), *(of_group(known, group) for group in groups), judged(known)]
    parts += [f"Signatures: {'; '.join(signatures)}."] if signatures else []
    return "# Methods\n\n" + "\n\n".join(parts) + "\n"


def measured(known: Mapping[str, Any]) -> str:
    return (
        f"We used ConvergeBench (suite {known['suite']}): {known['editors']} editors, {known['chains']} chains on "
        f"{known['sources']} source pictures, {known['score rows']} scored steps. Every distance is measured between a "
        "return and its chain's reference at the suite's evaluation size. Retained quality is (m - floor) / (ceiling - "
        "floor), clipped to the unit interval, with the floor of each reference the metric's median over the suite's "
        f"unrelated sources ({known['floor pairs']} pairs). A case counts until the first of: edit not made, not taken "
        f"back, the lowest of retained RMSE, SSIM and LPIPS below {known['threshold']}, one part as far away as an "
        "unrelated picture (worst LPIPS tile), retained CLIP below the same threshold, refusal. Excluded from "
        f"headlines, because unrelated pictures resemble them: {known['excluded sources']}. Chains under recall audit, "
        f"which are not counted: {known['chains under audit']}. Chains left out because they count twice or have no "
        f"scores: {known['chains that count twice or have no scores']}."
    )


def of_group(known: Mapping[str, Any], group: str) -> str:
    own = {name.removeprefix(f"{group}: "): value for name, value in known.items() if name.startswith(f"{group}: ")}
    covered = ", ".join(f"{WHAT[check]} {own[f'coverage of {check}']}" for check in CHECKS)
    return (
        f"{group.capitalize()}: the headline is {own['headline']}, on {own['cases']} cases of {own['sources']} sources "
        f"and {own['programs']} programs, up to {own['rounds']} rounds; {own['missing cases']} cases are missing "
        f"through technical failure. Coverage of returns: {covered}."
    )


def judged(known: Mapping[str, Any]) -> str:
    mark = "chains that ended "
    ends = [f"{value} {name.removeprefix(mark)}" for name, value in known.items() if name.startswith(mark)]
    return (
        f"Chains ended: {', '.join(ends)}. Half-lives are Kaplan-Meier medians; technical failures and the last round "
        f"censor, a refusal is a loss. {known['limits']} limits of medians: bootstrap over sources with expanded "
        "percentile limits; of means: Student's t on source means; of shares: score limits on source counts. Editors "
        "are compared in pairs on their common cases by a sign-flip test on source means of rounds kept, corrected "
        f"after Holm at level {known['level']}; with fewer than {known['sources for a verdict']} common sources no "
        "verdict is given. Editors without a verdict between them share a rank."
    )
