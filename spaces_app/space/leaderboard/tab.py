"""Results: the best and the worst editor on a typical case, and the headline table under a visitor's choice."""

import html
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from convergebench.generation.records import UserError
from convergebench.metric_modules.halflife.causes import CAUSES

from ...analysis.cases import Case
from ...analysis.groups import ROLES, CaseGroup, role_in_tables
from ...analysis.reasons import frames_of, typical_cases
from ...analysis.tables import as_csv, as_json, format_value, is_missing, rows_of
from ...reporting.figures import Drawing
from ...reporting.filmstrips import typical_strips
from ...reporting.headline import counted, scored_on
from ...reporting.headline import headline as headline_of
from ...reporting.hero import draw_hero, editors_for_strips
from ...reporting.page import table_html
from ...reporting.sentences import stand_in
from ...statistics import compute_tables
from ...statistics.curves import slice_curves
from ...statistics.leaderboard import Row, latex
from ...words import COLUMNS
from .. import headline, page
from ..headline import ALL, HALF, Choice, Leaderboard, ending_of, metric_titles
from ..served_dataset import Answer, ServedDataset, check_allowed
from ..tabs import SPACE

TITLE, ORDER = "Results", 10
NOTE = (
    "A test stops at the first failure: no edit, no undo, too much quality lost, one area destroyed, or a refusal. "
    "Baselines show the best and worst possible scores. Ranges are 95% confidence intervals across pictures. "
    "Editors that share fewer than 12 pictures are not ranked; ranks such as 2 to 4 may differ by chance. "
)
_NOT_COUNTED = (
    "No test here asks for a change and its undo, so no rounds are counted. The Viewer shows the pictures."
)
_TEMPLATES = SPACE / "leaderboard"
_FORMS = {"csv": as_csv, "json": as_json, "tex": latex}
MAIN = ("rank", "editor", "rounds_kept", "sources", "cost", "seconds", "cause")  # shown at first
_BASELINES = {
    "No edit": "returns its input unchanged",
    "Perfect undo": "the best possible score",
    "Random picture": "the worst possible score",
}
_VERDICTS = {"indicative": "; too few pictures to rank", "open": "; no difference shown"}
_MOST_COMPARISONS = 12


def story(
    dataset: ServedDataset,
    place: int = 0,
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    metric: str = "convergence",
    threshold: float = HALF,
) -> str:
    """The headline of a choice, and the strips of a typical case; `place` 1 is the next most typical."""
    choice = Choice(group, kind, category, metric, threshold)
    board = headline.leaderboard(dataset, choice)
    measured = [row for row in board.typed_rows if row.rounds_kept.value is not None]
    if board.group is None or not measured:
        return page.render(_TEMPLATES / "story.html", note=board.table.note or "No test could be measured.")
    shown = editors_for_strips(measured)
    tested = [row.editor for row in measured if row.role == ROLES["editor"]] or shown
    cases = typical_cases(board.group, board.outcomes, tested, [tested[0], tested[-1]])
    key = cases[place % len(cases)]
    strips = [_strip(dataset, case, board.group, choice) for editor in shown for case in board.group.cases[editor]
              if case.key == key]  # fmt: skip
    lost = next((strip for strip in reversed(strips) if strip["lost_at"]), strips[-1])
    answer, scope = headline_of(board.typed_rows, _scope(dataset, choice))
    return page.render(
        _TEMPLATES / "story.html",
        note="",
        answer=answer,
        scope=scope,
        names=dataset.display,
        strips=strips,
        charts=json.dumps(_charted(board, shown)),
        case=strips[0]["case"],
        picture=dataset.title(strips[0]["case"].source),
        anchor=f"{lost['case'].chain.id} {lost['lost_step'] or lost['frames'][-1]['step']}",
        next=(place + 1) % len(cases),
        is_typical=place % len(cases) == 0,
    )


def _charted(board: Leaderboard, shown: Sequence[str]) -> Answer:
    """What the small charts draw: the survival of some editors, and what all rounds of every editor cost."""
    rows = slice_curves(board.group, board.outcomes, ALL, metrics=("kept",)) if board.group else []
    curves = {
        editor: [(0, 1, 1, 1), *((row.round, *row.mean) for row in rows if row.editor == editor)]
        for editor in shown
    }
    last = max(row.last_round or 1 for row in board.typed_rows)
    prices = [
        (row.cost * last, *row.rounds_kept, row.editor)
        for row in board.typed_rows
        if row.cost and row.role == ROLES["editor"] and row.rounds_kept.value is not None
    ]
    prices.sort(key=lambda price: (price[0], -price[1]))
    return {"curves": curves, "prices": prices, "last": last}


def _scope(dataset: ServedDataset, choice: Choice) -> str:
    """The filters that are not as they were at first, and the day."""
    chosen = [value for value in (choice.kind, choice.category) if value != ALL]
    if choice.metric != "convergence":
        chosen.append(f"fails on {metric_titles(dataset)[choice.metric]} alone")
    if choice.threshold != HALF:
        chosen.append(f"failure threshold {choice.threshold:.0%}")
    return "; ".join(filter(None, (f"only {', '.join(chosen)}" if chosen else "", scored_on(dataset.reader))))


def _strip(dataset: ServedDataset, case: Case, group: CaseGroup, choice: Choice) -> Answer:
    end = ending_of(dataset, case.chain.id, choice._replace(group=group.name))
    return {**end, "case": case, "frames": frames_of(case, group.checks_of(case.editor), end["lost_step"])}


def _hero(dataset: ServedDataset) -> Drawing | None:
    board = headline.leaderboard(dataset)
    if board.group is None or not any(row.role == ROLES["editor"] for row in board.typed_rows):
        return None
    tested = [row.editor for row in board.typed_rows if row.role == ROLES["editor"]]
    strips = typical_strips(dataset, board.group, tested, editors_for_strips(board.typed_rows), dataset.reader)
    return draw_hero(dataset, board.typed_rows, strips, dataset.looks)


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
        is_table = form == "html"
        return leaderboard_html(board, dataset) if is_table else comparisons_html(board, editors, dataset)
    all_editors = board.table
    rows = [row for row in rows_of({"": all_editors}, Row) if not editors or row.editor in editors]
    if form == "tex":
        rows = [replace(row, editor=dataset.display.get(row.editor, row.editor)) for row in rows]
    return _FORMS[form](replace(all_editors, typed_rows=rows))


def leaderboard_html(board: Leaderboard, dataset: ServedDataset) -> str:
    """The whole table, with baselines below the editors."""
    rows = board.table.rows
    if not rows:
        reset = '<button type="button" data-reset>Reset filters</button>'
        return f'<p class="cb-note">{html.escape(board.table.note)} {reset}</p>'
    by_key = {column.key: column for column in board.table.columns}
    filled = {key for key in by_key if any(not is_missing(row[key]) and row[key] != 0 for row in rows)}
    titles = {ROLES["editor"]: "", ROLES["baseline"]: "Baselines, not ranked"}
    return page.render(
        _TEMPLATES / "table.html",
        columns=[by_key[key] for key in dict.fromkeys((*MAIN, *COLUMNS)) if key in filled],
        parts=[
            (titles.get(role, role.capitalize()), [row for row in rows if row["role"] == role])
            for role in dict.fromkeys(row["role"] for row in rows)
        ],
        last=max(row["last_round"] or 1 for row in rows),
        dataset=dataset,
        main=MAIN,
        words=COLUMNS,
        baselines=_BASELINES,
        baseline=ROLES["baseline"],
        causes=CAUSES,
        show=format_value,
        sort_key=_sort_key,
    )


def _sort_key(value: object, key: str) -> str:
    if is_missing(value):
        return ""
    if not key.endswith("_text"):
        return str(value)
    number = re.search(r"[\d.]+", str(value))
    return str(float(number[0].strip(".") or 0) + 0.5 * str(value).startswith(">") if number else 0.0)


def comparisons_html(board: Leaderboard, editors: Sequence[str], dataset: ServedDataset) -> str:
    """The chosen editors against each other; by default each against the one below it in the table."""
    order = [row.editor for row in board.typed_rows if row.role == ROLES["editor"]]
    beside = {*pairwise(order), *((second, first) for first, second in pairwise(order))}
    rows = [
        row
        for row in board.versus.rows
        if ({row["first"], row["second"]} <= {*editors} if editors else (row["first"], row["second"]) in beside)
    ]
    return page.render(
        _TEMPLATES / "versus.html",
        rows=rows[:_MOST_COMPARISONS],
        more=len(rows) - _MOST_COMPARISONS,
        names=dataset.display,
        verdicts=_VERDICTS,
        show=format_value,
    )


def which_editor(dataset: ServedDataset, edits: int, dollars: float = 0.0) -> dict:
    """The editors that keep a picture through so many edits in a row, best first, as far as dollars for them go.

    `share` is that of the tests of editing and undoing that were not lost by then, of
    `tests`; shares of few pictures may differ by chance, which `leaderboard` says.
    Without dollars, money is no limit; an editor without a known price costs null.
    """
    if edits < 1 or dollars < 0:
        raise UserError(f"edits must be at least 1 and dollars at least 0, got {edits} and {dollars:g}")
    board, rounds = headline.leaderboard(dataset), -(-edits // 2)  # a round is an edit and its undo
    tested = max(chain.rounds for chain in dataset.chains)
    rows: list[Answer] = []
    for row in board.typed_rows if rounds <= tested else ():
        done = [outcome for outcome in board.outcomes[row.editor] if not outcome.failed]
        whole = None if row.cost is None else round(row.cost / 2 * edits, 4)
        if dataset.is_tested(row.editor) and done and (not dollars or (whole is not None and whole <= dollars)):
            share = sum(outcome.lost_at is None or outcome.lost_at > rounds for outcome in done) / len(done)
            rows.append({"editor": row.editor, "share": round(share, 4), "tests": len(done), "dollars": whole})
    rows.sort(key=lambda row: (-row["share"], row["dollars"] or 0.0))
    return {"rounds": rounds, "rounds_tested": tested, "editors": rows}


def words(dataset: ServedDataset) -> dict[str, str]:
    tested = [dataset.is_tested(editor) for editor in dataset.looks]
    tests = [dataset.is_tested(chain.editor) for chain in dataset.chains]
    counts = {
        "editor": tested.count(True),
        "baseline": tested.count(False),
        "picture": len(dataset.names["source"]),
        "test": tests.count(True),  # as in the headline
        "baseline test": tests.count(False),
        "scored step": dataset.score_table.num_rows,
    }
    texts = {"counts": ", ".join(counted(n, name) for name, n in counts.items() if n)}
    if dataset.groups:
        board = headline.leaderboard(dataset)
        versus = comparisons_html(board, [], dataset)
        return texts | {"story": story(dataset), "board": leaderboard_html(board, dataset), "versus": versus}
    why = _NOT_COUNTED if dataset.cases else "No test has been scored yet."
    return texts | {
        "story": _of_a_study(dataset),
        "board": f'<p class="cb-note" id="cb-first" tabindex="-1">{why}</p>',
        "versus": "",
    }


def _of_a_study(dataset: ServedDataset) -> str:
    """What the first study that answers says of a dataset whose tests no headline counts."""
    answer = stand_in(compute_tables(dataset))
    if not answer:
        return ""
    lead = "".join(f'<h2 class="cb-lead">{html.escape(words)}</h2>' for words in answer["lead"])
    shown = table_html(answer["table"], [column.key for column in answer["table"].shown()])
    return f'{lead}<div class="cb-scroll cb-plain-table" tabindex="0" role="region" aria-label="Results">{shown}</div>'


def page_data(dataset: ServedDataset) -> Answer:
    return {
        "metrics": list(metric_titles(dataset).items()) if dataset.groups else [],
        "columns": [[key, short, meaning, key in MAIN] for key, (short, meaning) in COLUMNS.items()],
    }


FIGURES = {"hero": _hero}
PUBLIC = (about, leaderboard, table, which_editor)
FOR_THE_PAGE = (story,)
