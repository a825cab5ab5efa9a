from collections.abc import Iterator

import numpy as np
from convergebench.metric_modules.halflife.comparison import compare

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage

TITLE = "What encoding and decoding alone retain"
SECTION = "Appendix: the bound of latent editors"
ON_PAGE = OnPage(order=99, part_by="bound")
NOTE = (
    "An editor that decodes each answer with this autoencoder cannot retain more than the autoencoder alone, asked as "
    "often. One that does works in pixels or in other latents, and the bound says nothing about it."
)
_BOUND = "vae"  # the editor that only encodes and decodes
_MARGIN = 0.01  # of retained quality: a mean above the bound by less is within it


class Row(TableRow):
    bound: str = column("Autoencoder", shown=False)
    group: str = column("Programs")
    editor: str = column("Editor")
    retained: float = column("Retained, mean of rounds", "share")
    most: float = column("The autoencoder alone", "share")
    below: Estimate = column("Below it by", "share")
    verdict: str = column("The bound")
    cases: int = column("Common cases", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    """A row for each editor and autoencoder that were asked the same on the same pictures, as often."""
    for group in analysis.groups.values():
        means = {
            editor: {case.key: mean for case in cases if (mean := _mean_retained(case)) is not None}
            for editor, cases in group.cases.items()
        }
        for bound in [editor for editor in means if editor.split(":")[0] == _BOUND]:
            for editor in means:
                common = means[editor].keys() & means[bound].keys()
                if common and editor.split(":")[0] != _BOUND and analysis.roles.get(editor, "editor") == "editor":
                    pair = compare((bound, editor), means[bound], means[editor], {key: key[0] for key in common})
                    retained, most = (
                        sum(means[name][key] for key in common) / len(common) for name in (editor, bound)
                    )
                    verdict = "within" if retained <= most + _MARGIN else "does not apply: above it"
                    below = estimate(pair.difference, pair.interval)
                    yield Row(bound=bound, group=group.name, editor=editor, retained=retained, most=most, below=below,
                              verdict=verdict, cases=len(common), sources=pair.sources)  # fmt: skip


def _mean_retained(case: Case) -> float | None:
    """Over the planned rounds; those after the end of a chain retain nothing."""
    values = case.quality()
    return (
        float(np.mean([value or 0.0 for value in values])) if any(value is not None for value in values) else None
    )
