"""Programs that only add: is each thing added, does it stay, is the count right, and what becomes of the picture?"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from statistics import mean, median

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval

from ....analysis.accounting import account_for
from ....analysis.analysis import Analysis
from ....analysis.tables import Column, Estimate, TableRow, column, columns_by_key, estimate
from ....statistics import OnPage
from ..chains import RULES, AdditionChain, addition_chains

TITLE = "Additions"
SECTION = "Additions"
ON_PAGE = OnPage(part_by="program", line_where="judged_by")
_STEPS = (5, 10, 20)  # at which the background is compared, the steps of Banana100's gaps


def _background(key: str) -> Column:
    step = int(key.removeprefix("background_"))
    return Column(key, f"Background LPIPS, step {step}", "number", shown=step == _STEPS[0])


class Row(TableRow):
    program: str = column("Program", shown=False)
    editor: str = column("Editor")
    judged_by: str = column("Judged by")
    added: Estimate = column("Additions made", "share")
    stays: float | None = column("Still there at the end", "share")
    first_lost: str | None = column("First step that lost a thing")
    counted_right: float | None = column("Steps with one more", "share")
    none_added: float | None = column("Steps with none more", "share")
    several_added: float | None = column("Steps with several more", "share")
    first_miscount: str | None = column("First wrong count")
    count_error: float | None = column("Error of the last count", "change")
    replaced: float | None = column("Replaced, not added", "share")
    background: Mapping[str, float | None] = columns_by_key(_background)
    background_last: float | None = column("Background LPIPS, last step", "number")
    whole_last: float | None = column("LPIPS of the whole picture, last step", "number")
    steps: int = column("Steps", "count")
    planned: int = column("Steps planned", "count", shown=False)
    ended: str | None = column("Ended early")
    chains: int = column("Chains", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each program, judge and editor; the rules come after judges, baselines after editors."""
    groups: dict[tuple[str, str, str], list[AdditionChain]] = defaultdict(list)
    for chain in analysis.once(addition_chains):
        groups[chain.case.program, chain.judge, chain.case.editor].append(chain)

    def order(key: tuple[str, str, str]) -> tuple[object, ...]:
        program, judge, editor = key
        return program, judge == RULES, judge, analysis.roles.get(editor, "editor") != "editor", editor

    return [_row(*key, groups[key]) for key in sorted(groups, key=order)]


def _row(program: str, judge: str, editor: str, chains: Sequence[AdditionChain]) -> Row:
    """The row of one editor's chains of one program."""
    rises = [rise for chain in chains for rise in chain.steps_by_one.values()]
    return Row(
        program=program,
        editor=editor,
        judged_by=judge,
        added=_added(chains),
        stays=_known_mean(chain.stays for chain in chains),
        first_lost=_median_step([(c.first_lost, max(c.there)) for c in chains if c.there]),
        counted_right=_known_mean(rise == 1 for rise in rises),
        none_added=_known_mean(rise < 1 for rise in rises),
        several_added=_known_mean(rise > 1 for rise in rises),
        first_miscount=_median_step(
            [(chain.first_miscount, max(chain.counts)) for chain in chains if chain.steps_by_one]
        ),
        count_error=_known_mean(chain.count_error for chain in chains),
        replaced=_known_mean(gone for chain in chains for gone in chain.replaced.values()),
        background={f"background_{step}": _mean_at(chains, step) for step in _STEPS},
        background_last=_known_mean(chain.background_last for chain in chains),
        whole_last=_known_mean(chain.whole_last for chain in chains),
        steps=sum(chain.answered for chain in chains),
        planned=sum(chain.planned for chain in chains),
        ended=_early_ends(chains),
        chains=len(chains),
        sources=len({chain.case.source for chain in chains}),
    )


def _early_ends(chains: Sequence[AdditionChain]) -> str | None:
    ends = Counter(chain.case.end for chain in chains if chain.case.end != "complete")
    return ", ".join(f"{count} {end}" for end, count in sorted(ends.items())) or None


def _mean_at(chains: Sequence[AdditionChain], step: int) -> float | None:
    return _known_mean(chain.background.get(step) for chain in chains)


def _added(chains: Sequence[AdditionChain]) -> Estimate:
    """The share of steps whose addition was made, with limits over sources."""
    marks = [(made, chain.case.source) for chain in chains for made in chain.added.values()]
    if not marks:
        return Estimate()
    made = np.array([is_made for is_made, _ in marks])
    return estimate(mean(is_made for is_made, _ in marks), share_interval(made, [source for _, source in marks]))


def _known_mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return float(mean(present)) if present else None


def _median_step(firsts: Sequence[tuple[float, int]]) -> str | None:
    """The median of first steps; ">N" if half of the chains have none in their first N steps.

    >>> _median_step([(7, 20), (9, 20), (float("inf"), 20)]), _median_step([(float("inf"), 12)])
    ('9', '>12')
    """
    if not firsts:
        return None
    middle = median(first for first, _ in firsts)
    return f">{max(last for _, last in firsts)}" if middle == inf else f"{middle:g}"


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    """First the sum: each chain that only adds is counted here, or left out for a named reason."""
    chains = [chain for chain in analysis.chains if not chain.program.closes]
    if not chains:
        return ""
    places = account_for(analysis)
    counts = Counter(places[chain.id] for chain in chains)
    total = " + ".join(f"{count} {place}" for place, count in sorted(counts.items()))
    sentences = [
        f"{len(chains)} chains that only add = {total}.",
        "These programs undo nothing, so there is no half-life: what counts is whether each requested thing appears, "
        "whether it stays, and what happens to the rest of the picture. First steps are medians over chains.",
    ]
    if any(row.judged_by == RULES for row in rows):
        sentences.append(
            "If no judge was asked, the rules judge additions, and they neither count nor name things: "
            "`convergebench judge` with the questions edit_applied, additions_there and object_count adds that."
        )
    if not any(row.background_last is not None for row in rows):
        sentences.append("`convergebench score --metrics background` adds LPIPS outside the additions.")
    return " ".join(sentences)
