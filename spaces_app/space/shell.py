"""The page as it is first sent: head, tabs, the first tab's story and table, and what the scripts have to know."""

import json
from typing import Any

from ..analysis.display_names import program_names
from ..analysis.groups import HALF
from ..analysis.program_groups import program_groups
from ..analysis.reasons import TITLES
from ..palette import MUTED, SERIES
from . import curves_tab, labels_tab, page
from .failures_tab import SORTS
from .leaderboard import leaderboard, metric_titles
from .leaderboard_tab import HEADINGS, MAIN, NOTE, leaderboard_html
from .score_yours_tab import NOTE as NOTE_YOURS
from .served_dataset import ServedDataset
from .story import story_html

TABS = {
    "leaderboard": "Results",
    "failures": "Failures",
    "compare": "Compare",
    "curves": "Curves",
    "chains": "Viewer",
    "metrics": "Metrics",
    "score-yours": "Try yours",
    "labels": "Labels",
}
CODE = "https://huggingface.co/spaces/convergebench/convergebench/tree/main"


def shell_html(dataset: ServedDataset) -> str:
    """Everything but what is asked for later; without cases to count, one sentence in the table's place."""
    found = leaderboard(dataset) if dataset.counted else None
    data = dataset.link
    return page.render(
        "shell.html",
        tabs=TABS,
        data=json.dumps(known_to_the_page(dataset)),
        story=story_html(dataset) if found else "",
        board=leaderboard_html(found, dataset) if found else f'<p class="cb-note">{why_no_table(dataset)}</p>',
        note=NOTE,
        yours=NOTE_YOURS,
        labels=labels_tab.NOTE,
        curves=curves_tab.NOTE,
        links={"Data": data, "Code": CODE} if data else {"Code": CODE},
        version=dataset.version,
        counts=counts(dataset),
    )


def why_no_table(dataset: ServedDataset) -> str:
    """What stands where the table of results would be."""
    if any(case.group == "restoration" for case in dataset.cases):
        return (
            "These tests restore degraded pictures, so there are no rounds to survive. The report has their tables; "
            "Compare and the Viewer show the pictures."
        )
    return "No test was scored yet."


def counts(dataset: ServedDataset) -> str:
    """'12 editors, 100 pictures, 1,333 tests, 28,000 steps'."""
    tested = len(dataset.names["editor"]) - len(dataset.references)
    parts = {"editor": tested, "baseline": len(dataset.references), "picture": len(dataset.names["source"]),
             "test": len(dataset.chains), "scored step": dataset.scores.num_rows}  # fmt: skip
    return ", ".join(f"{count:,} {name}{'s' if count != 1 else ''}" for name, count in parts.items() if count)


def known_to_the_page(dataset: ServedDataset) -> dict[str, Any]:
    """Editors with names and looks, pictures, programs, and which filters go together."""
    programs = {chain.program.id: chain.program.cycle for chain in dataset.chains.values()}
    together = sorted(
        {
            (case.group, case.kind, case.category)
            for cases in dataset.counted.values()
            for own in cases.cases.values()
            for case in own
        }
    )
    curves = curves_tab.metric_titles(dataset) if dataset.counted else {}
    return {
        "editors": [
            {
                "id": name,
                "name": dataset.display[name],
                "place": dataset.looks[name].place,
                "baseline": not dataset.is_tested(name),
            }
            for name in dataset.looks
        ],
        "pictures": {name: dataset.title(name) for name in dataset.names["source"]},
        "programs": program_names(dict(sorted(programs.items()))),
        "groups": list(dataset.counted),
        "groupNames": {group.name: group.filter_name for group in program_groups().values() if group.filter_name},
        "kinds": dataset.names["kind"],
        "categories": dataset.names["category"],
        "together": together,
        "metrics": list(metric_titles(dataset).items()) if dataset.counted else [],
        "curves": [[name, curves_tab.without_brackets(title).capitalize()] for name, title in curves.items()],
        "columns": [[key, short, meaning, key in MAIN] for key, (short, meaning) in HEADINGS.items()],
        "causes": TITLES,
        "sorts": SORTS,
        "threshold": HALF,
        "colours": [colour.light for colour in (*SERIES, MUTED)],
        "version": dataset.version,
        "questions": labels_tab.questions(),
    }
