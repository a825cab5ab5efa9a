"""Programs that only add: is what was added there, does it stay, is the count right, and what becomes of the rest?"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import inf
from statistics import mean, median
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval

from ....analysis.accounting import account_for
from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..chains import RULES, AdditionChain, addition_chains

TITLE = "Additions"
SECTION = "Additions"
STEPS = (5, 10, 20)  # at which the background is looked at, as the study looks at its gaps
ON_PAGE = OnPage(part_by="program", line_where="judged_by")
COLUMNS = (
    Column("program", "Program", shown=False),
    Column("editor", "Editor"),
    Column("judged_by", "Judged by"),
    Column("added", "Additions made", "share", interval=True),
    Column("stays", "There at the end", "share"),
    Column("first_lost", "First step that lost one"),
    Column("counted_right", "Steps with one more", "share"),
    Column("none_added", "none more", "share"),
    Column("several_added", "several", "share"),
    Column("first_miscount", "First wrong count"),
    Column("count_error", "Off at the end", "change"),
    Column("replaced", "Replaced, not added", "share"),
    *(
        Column(f"background_{step}", f"Background LPIPS, step {step}", "number", shown=step == STEPS[0])
        for step in STEPS
    ),
    Column("background_last", "at the end", "number"),
    Column("whole_last", "whole picture", "number"),
    Column("steps", "Steps", "count"),
    Column("planned", "Steps planned", "count", shown=False),
    Column("ended", "Ended early"),
    Column("chains", "Chains", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each program, judge and editor; the editors that are only ends of the scale come last."""
    groups: dict[tuple[str, str, str], list[AdditionChain]] = {}
    for chain in addition_chains(analysis):
        groups.setdefault((chain.case.program, chain.judge, chain.case.editor), []).append(chain)
    ordered = sorted(groups, key=lambda key: (key[0], key[1] == RULES, key[1], is_reference(analysis, key[2]), key[2]))
    return [
        {"program": program, "editor": editor, "judged_by": judge} | row_of(groups[program, judge, editor])
        for program, judge, editor in ordered
    ]


def is_reference(analysis: Analysis, editor: str) -> bool:
    """Whether an editor says where the scale begins or ends."""
    return analysis.roles.get(editor, "editor") != "editor"


def row_of(chains: Sequence[AdditionChain]) -> dict[str, Any]:
    """What one editor's chains of one program come to."""
    marks = [(made, chain.case.source) for chain in chains for made in chain.added.values()]
    limits = share_interval(np.array([made for made, _ in marks]), [source for _, source in marks]) if marks else None
    low, high = limits if limits else (None, None)
    rises = [rise for chain in chains for rise in chain.steps_by_one.values()]
    ends = Counter(chain.case.end for chain in chains if chain.case.end != "complete")
    return {
        "added": mean(made for made, _ in marks) if marks else None,
        "added_low": low,
        "added_high": high,
        "stays": mean_known(chain.stays for chain in chains),
        "first_lost": median_step([(chain.first_lost, max(chain.there)) for chain in chains if chain.there]),
        "counted_right": share(rises, lambda rise: rise == 1),
        "none_added": share(rises, lambda rise: rise < 1),
        "several_added": share(rises, lambda rise: rise > 1),
        "first_miscount": median_step(
            [(chain.first_miscount, max(chain.counts)) for chain in chains if chain.steps_by_one]
        ),
        "count_error": mean_known(chain.count_error for chain in chains),
        "replaced": share([gone for chain in chains for gone in chain.replaced.values()], bool),
        **{f"background_{step}": mean_known(chain.background.get(step) for chain in chains) for step in STEPS},
        "background_last": mean_known(last_of(chain.background) for chain in chains),
        "whole_last": mean_known(last_of(chain.whole) for chain in chains),
        "steps": sum(chain.answered for chain in chains),
        "planned": sum(chain.planned for chain in chains),
        "ended": ", ".join(f"{count} {end}" for end, count in sorted(ends.items())) or None,
        "chains": len(chains),
        "sources": len({chain.case.source for chain in chains}),
    }


def mean_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def share(values: Sequence[float], holds: Callable[[float], bool]) -> float | None:
    return sum(map(holds, values)) / len(values) if values else None


def last_of(values: Any) -> float | None:
    return values[max(values)] if values else None


def median_step(firsts: Sequence[tuple[float, int]]) -> str | None:
    """The median of first steps; ">N" where half of the chains have none in the N steps that they were followed.

    >>> median_step([(7, 20), (9, 20), (float("inf"), 20)]), median_step([(float("inf"), 12)])
    ('9', '>12')
    """
    if not firsts:
        return None
    middle = median(first for first, _ in firsts)
    return f">{max(last for _, last in firsts)}" if middle == inf else f"{middle:g}"


def note(analysis: Analysis, rows: Rows) -> str:
    """The sum first: each chain that only adds is counted here or left out for a reason that is named."""
    own = [chain for chain in analysis.chains if not chain.program.closes]
    if not own:
        return ""
    places = account_for(analysis)
    counts = Counter(places[chain.id] for chain in own)
    words = [
        f"{len(own)} chains that only add = "
        + " + ".join(f"{count} {place}" for place, count in sorted(counts.items()))
        + ".",
        "Nothing is taken back here, so there is no half-life: what counts is whether each thing is there when it was "
        "asked for, whether it stays, and what becomes of the rest. First steps are medians over chains.",
    ]
    if any(row["judged_by"] == RULES for row in rows):
        words.append(
            "Where no judge was asked, additions are seen by the rules, which neither count nor name things: "
            "`convergebench judge` with the questions edit_applied, additions_there and object_count adds that."
        )
    if not any(row["background_last"] is not None for row in rows):
        words.append("`convergebench score --metrics background` adds LPIPS outside the additions.")
    return " ".join(words)
