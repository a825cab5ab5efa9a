"""Results: the best and the worst editor on a typical case, and the headline table under a visitor's choice."""

import json
from dataclasses import replace

from ...analysis.cases import Case
from ...analysis.groups import CaseGroup, role_in_tables
from ...analysis.reasons import frames_of, typical_cases
from ...analysis.tables import as_csv, as_json, rows_of
from ...statistics.leaderboard import Row, latex
from .. import headline, page
from ..headline import ALL, HALF, Choice, metric_titles
from ..served_dataset import Answer, ServedDataset, check_allowed
from ..tabs import SPACE
from .table import HEADINGS, MAIN, comparisons_html, leaderboard_html

TITLE, ORDER = "Results", 10
NOTE = (
    "A test stops at the first failure: no edit, no undo, too much quality lost, one area destroyed, or a refusal. "
    "Baselines show the best and worst possible scores. Ranges are 95% confidence intervals across pictures. "
    "Editors that share fewer than 12 pictures are not ranked; ranks such as 2 to 4 may differ by chance. "
)
_NOT_COUNTED = (
    "None of these tests is counted, so no rounds are survived. Compare and the Viewer show the pictures."
)
_STORY = SPACE / "leaderboard" / "story.html"
_FORMS = {"csv": as_csv, "json": as_json, "tex": latex}


def story(dataset: ServedDataset, place: int = 0) -> str:
    """The strips of a typical case; `place` 1 is the next most typical."""
    board = headline.leaderboard(dataset)
    measured = [row for row in board.table.rows if row["rounds_kept"] is not None]
    rows = [row for row in measured if row["role"] == "editors"] or measured
    if board.group is None or not rows:
        return page.render(_STORY, note=board.table.note or "No test could be measured.")
    # A single editor is shown beside the best baseline.
    others = sorted((row for row in measured if row not in rows), key=lambda row: -row["rounds_kept"])
    shown = [rows[0], *(rows[1:] or others[:1])[-1:]]
    tested = [row["editor"] for row in rows]
    cases = typical_cases(board.group, board.outcomes, tested, [tested[0], tested[-1]])
    key = cases[place % len(cases)]
    strips = [_strip(dataset, case, board.group) for row in shown for case in board.group.cases[row["editor"]]
              if case.key == key]  # fmt: skip
    lost = next((strip for strip in reversed(strips) if strip["lost_at"]), strips[-1])
    return page.render(
        _STORY,
        note="",
        best=rows[0],
        worst=rows[-1] if len(rows) > 1 else None,
        names=dataset.display,
        strips=strips,
        case=strips[0]["case"],
        picture=dataset.title(strips[0]["case"].source),
        anchor=f"{lost['case'].chain.id} {lost['lost_step'] or lost['frames'][-1]['step']}",
        next=(place + 1) % len(cases),
        is_typical=place % len(cases) == 0,
    )


def _strip(dataset: ServedDataset, case: Case, group: CaseGroup) -> Answer:
    end = dataset.ending(case, group)
    frames = frames_of(case, group.checks_of(case.editor), end["lost_step"])
    return {**end, "case": case, "frames": frames, "outline": json.dumps(end["outline"])}


def about(dataset: ServedDataset) -> dict:
    """What is in this dataset: editors, pictures, programs, suites, counts."""
    suites = sorted({(chain.suite, chain.suite_version) for chain in dataset.chains})
    return {
        "editors": {name: role_in_tables(name, dataset.roles, dataset.apart) for name in dataset.names["editor"]},
        "pictures": dataset.names["source"],
        "programs": dataset.names["program"],
        "suites": [{"suite": suite, "version": version} for suite, version in suites],
        "chains": len(dataset.chains),
        "scored_steps": dataset.score_table.num_rows,
        "excluded_pictures": list(dataset.look_alikes),
    }


def leaderboard(
    dataset: ServedDataset,
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    metric: str = "convergence",
    threshold: float = HALF,
    editors: list[str] = [],  # noqa: B006 - read only, and the API's page shows it
) -> dict:
    """The headline table: one row per editor, numbers as numbers, limits beside them, and the comparisons."""
    board = headline.leaderboard(dataset, Choice(group, kind, category, metric, threshold, tuple(editors)))
    return {
        "title": board.table.rows[0]["name"] if board.table.rows else board.table.note,
        "rows": [{key: row.get(key) for key in board.table.keys} for row in board.table.rows],
        "versus": [dict(row) for row in board.versus.rows],
    }


def table(
    dataset: ServedDataset,
    form: str = "csv",
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    metric: str = "convergence",
    threshold: float = HALF,
    editors: list[str] = [],  # noqa: B006 - read only
) -> str:
    """The headline table as csv, json, tex (LaTeX) or html, or what `versus` says; of all editors or of these."""
    check_allowed("form", [form], (*_FORMS, "html", "versus"))
    dataset.check_editors(editors)
    board = headline.leaderboard(dataset, Choice(group, kind, category, metric, threshold))
    if form not in _FORMS:
        return leaderboard_html(board, dataset) if form == "html" else comparisons_html(board.versus, editors)
    all_editors = board.table
    rows = [row for row in rows_of({"": all_editors}, Row) if not editors or row.editor in editors]
    if form == "tex":
        rows = [replace(row, editor=dataset.display.get(row.editor, row.editor)) for row in rows]
    return _FORMS[form](replace(all_editors, typed_rows=rows))


def words(dataset: ServedDataset) -> dict[str, str]:
    baselines = sum(look.is_reference for look in dataset.looks.values())
    counts = {
        "editor": len(dataset.looks) - baselines,
        "baseline": baselines,
        "picture": len(dataset.names["source"]),
        "test": len(dataset.chains),
        "scored step": dataset.score_table.num_rows,
    }
    texts = {"counts": ", ".join(f"{n:,} {name}{'s' if n != 1 else ''}" for name, n in counts.items() if n)}
    if dataset.groups:
        board = leaderboard_html(headline.leaderboard(dataset), dataset)
        return texts | {"story": story(dataset), "board": board}
    why = _NOT_COUNTED if dataset.cases else "No test has been scored yet."
    return texts | {"story": "", "board": f'<p class="cb-note">{why}</p>'}


def known(dataset: ServedDataset) -> Answer:
    return {
        "metrics": list(metric_titles(dataset).items()) if dataset.groups else [],
        "columns": [[key, short, meaning, key in MAIN] for key, (short, meaning) in HEADINGS.items()],
    }


PUBLIC = (about, leaderboard, table)
FOR_THE_PAGE = (story,)
