"""The endpoints: every view of the Space for programs, under a readable name, with plain values in and out."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from convergebench.generation.records import UserError

from ..analysis.groups import role_in_tables
from ..analysis.tables import as_csv, as_json, as_latex
from ..statistics import leaderboard as statistic
from . import chains_tab, compare_tab, curves_tab, failures_tab, labels_tab, metrics_tab, story
from .errors import DAMAGED_FILE, NoPicture, damage_sentence, explain_errors
from .leaderboard import Choice, leaderboard
from .leaderboard_tab import comparisons_html, leaderboard_html
from .previews import Previews
from .score_yours_tab import Scorer, endpoint, page_endpoint
from .served_dataset import ServedDataset

TABLE_FORMS = {"csv": as_csv, "json": as_json, "tex": as_latex}
MOST_CHAINS = 500  # in one answer
TYPES = {str: "a text", int: "a whole number", float: "a number", list[str]: "a list of texts"}


def check_types(endpoint: Callable) -> Callable:
    """Refuses what is not of the type that the endpoint names, before anything is looked up."""
    signature = inspect.signature(endpoint)

    @wraps(endpoint)
    def checked(*arguments: Any, **named: Any) -> Any:
        given = signature.bind(*arguments, **named)
        for name, value in given.arguments.items():
            kind = signature.parameters[name].annotation
            if not is_of_type(value, kind):
                raise UserError(f"{name} is {str(value)[:40]!r}; it is {TYPES[kind]}")
        return endpoint(*given.args, **given.kwargs)

    return checked


def is_of_type(value: Any, kind: Any) -> bool:
    if kind == list[str]:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


class Endpoints:
    """One method for each endpoint; its docstring is what the API's page says."""

    def __init__(self, dataset: ServedDataset, previews: Previews):
        self.dataset, self.previews = dataset, previews

    def about(self) -> dict:
        """What is in this dataset: editors, pictures, programs, suites, counts."""
        dataset = self.dataset
        suites = sorted({(chain.suite, chain.suite_version) for chain in dataset.chains.values()})
        return {
            "editors": {name: role_in_tables(name, dataset.roles, dataset.apart) for name in dataset.names["editor"]},
            "pictures": dataset.names["source"],
            "programs": dataset.names["program"],
            "suites": [{"suite": suite, "version": version} for suite, version in suites],
            "chains": len(dataset.chains),
            "scored_steps": dataset.scores.num_rows,
            "excluded_pictures": dataset.excluded,
        }

    def leaderboard(
        self,
        group: str = "",
        kind: str = "all",
        category: str = "all",
        metric: str = "convergence",
        threshold: float = 0.5,
        editors: list[str] = [],  # noqa: B006 - read only, and the API's page shows it
    ) -> dict:
        """The headline table: one row per editor, numbers as numbers, limits beside them, and the comparisons."""
        found = leaderboard(self.dataset, Choice(group, kind, category, metric, threshold, tuple(editors)))
        return {
            "title": found.table.rows[0]["name"] if found.table.rows else found.table.note,
            "rows": [{key: row.get(key) for key in found.table.keys} for row in found.table.rows],
            "versus": [dict(row) for row in found.versus.rows],
        }

    def curves(
        self, metric: str = "quality", group: str = "", kind: str = "all", category: str = "all", threshold: float = 0.5
    ) -> list[dict]:
        """Mean, limits and median of a metric for each editor and round."""
        return curves_tab.curve_rows(self.dataset, Choice(group, kind, category, threshold=threshold), metric)

    def table(
        self,
        form: str = "csv",
        group: str = "",
        kind: str = "all",
        category: str = "all",
        metric: str = "convergence",
        threshold: float = 0.5,
        editors: list[str] = [],  # noqa: B006 - read only
    ) -> str:
        """The headline table as a file: csv, json or tex (LaTeX); of all editors, or of those that are named."""
        if form not in TABLE_FORMS:
            raise UserError(f"no form {form[:40]!r}; it is one of {', '.join(TABLE_FORMS)}")
        table = leaderboard(self.dataset, Choice(group, kind, category, metric, threshold)).table
        if unknown := [name for name in editors if name not in self.dataset.names["editor"]]:
            raise UserError(f"no editor {unknown[0][:40]!r}; the editors are {', '.join(self.dataset.names['editor'])}")
        rows = [row for row in table.rows if not editors or row["editor"] in editors]
        if form == "tex":
            rows = [{**row, "editor": self.dataset.display.get(row["editor"], row["editor"])} for row in rows]
            return statistic.latex(replace(table, rows=rows))
        return TABLE_FORMS[form](replace(table, rows=rows))

    def failures(
        self,
        editor: str = "",
        cause: str = "",
        program: str = "",
        group: str = "",
        kind: str = "all",
        category: str = "all",
        sort: str = "first",
        start: int = 0,
    ) -> dict:
        """Lost cases, 60 at a time: the round, the cause, the numbers behind it and the step in which it was lost."""
        filters = {"editor": editor, "cause": cause, "program": program, "group": group, "kind": kind}
        return failures_tab.failures(self.dataset, start, **filters, category=category, sort=sort)

    def compare(self, source: str = "", program: str = "", editors: list[str] = []) -> dict:  # noqa: B006 - read only
        """Two to six editors on one picture and one program: their chains, and what each round retained."""
        return compare_tab.compare(self.dataset, source, program, editors)

    def chains(self, editor: str = "", source: str = "", program: str = "", start: int = 0) -> list[dict]:
        """Chains that match, 500 at a time: what was asked, how they ended, and where and why they were lost."""
        found = [
            each
            for each in self.dataset.chains.values()
            if editor in ("", each.editor) and source in ("", each.source.id) and program in ("", each.program.id)
        ]
        return [
            {
                "chain": each.id,
                "editor": each.editor,
                "source": each.source.id,
                "program": each.program.id,
                "run": each.run,
                "rounds": each.rounds,
                "steps": each.calls,
                "status": each.status,
                "category": each.program.category,
                "kind": each.source.kind,
                **chains_tab.outcome_fields(self.dataset, each.id),
            }
            for each in found[max(int(start), 0) :][:MOST_CHAINS]
        ]

    def chain(self, chain: str) -> dict:
        """One chain in full: every step's words, seed, scores, cost and status, its curves and what became of it."""
        return chains_tab.chain_view(self.dataset, chain)

    def pick(self, how: str = "surprise", editor: str = "") -> str:
        """The id of a chain: surprise, worst or longest; of one editor where one is named."""
        return chains_tab.pick(self.dataset, how, editor)

    def step(self, chain: str, step: int) -> dict:
        """One step: its words and numbers, and the address of its picture on this server."""
        found, cycle = self.dataset.step(chain, step), self.dataset.chain(chain).program.cycle
        scores = self.dataset.scores_of(chain).get(step, {})
        return chains_tab.step_view(found, scores, len(cycle)) | self.picture(chain, step)

    def metrics(self, chain: str) -> list[dict]:
        """All metrics of one chain on the scale from 0 to 1, one row per metric and return."""
        return metrics_tab.metric_curves(self.dataset, chain)

    def agreement(self) -> dict:
        """Rank correlations between the metrics over all returns, and how often each has fallen furthest."""
        return metrics_tab.agreement(self.dataset)

    def picture(self, chain: str, step: int, kind: str = "view", gain: int = 8, at: str = "") -> dict:
        """The address of a picture: thumb, small, view, difference (amplified by gain), detail or received (the bytes).

        A detail shows the place that changed most in the step that `at` names, as "CHAIN STEP".
        """
        try:
            path = self.previews.path(chain, step, kind, gain, at)
        except NoPicture as error:
            return {"url": None, "reason": str(error)}
        except DAMAGED_FILE as error:
            return {"url": None, "reason": damage_sentence(error)}
        return {"url": f"/gradio_api/file={path}", "reason": None}

    def label_items(self, question: str = "failure", start: int = 0) -> dict:
        """Pictures for people to judge without names, 60 at a time: failure, reversible, rating or pair."""
        return labels_tab.label_items(self.dataset, question, start)

    def label_agreement(self, labels: str) -> list[dict]:
        """Krippendorff's alpha with limits of the labels in a saved file's text; nothing of it is kept."""
        return labels_tab.label_agreement(self.dataset, labels)

    # For the page alone: parts that are ready to be shown, and what its controls need.

    def story(self, place: int = 0) -> str:
        return story.story_html(self.dataset, place)

    def board(
        self,
        group: str = "",
        kind: str = "all",
        category: str = "all",
        metric: str = "convergence",
        threshold: float = 0.5,
        editors: list[str] = [],  # noqa: B006 - read only
    ) -> dict:
        found = leaderboard(self.dataset, Choice(group, kind, category, metric, threshold))
        keys = ("editor", "role", "rounds_kept", "rounds_kept_low", "rounds_kept_high", "last_round", "cost")
        return {
            "html": leaderboard_html(found, self.dataset),
            "versus": comparisons_html(found.versus, editors),
            "rows": [{key: row.get(key) for key in keys} for row in found.table.rows],
        }

    def lines(
        self, metric: str = "quality", group: str = "", kind: str = "all", category: str = "all", single: str = ""
    ) -> dict:
        choice = Choice(group, kind, category)
        found = curves_tab.editor_curves(self.dataset, choice, metric)
        return found | {"chains": curves_tab.chain_curves(self.dataset, choice, metric, single) if single else []}

    def find(self, editor: str, source: str = "", program: str = "", run: int = 1) -> dict:
        return chains_tab.find_chain(self.dataset, editor, source, program, run)

    def neighbours(
        self,
        chain: str,
        editor: str = "",
        cause: str = "",
        program: str = "",
        group: str = "",
        kind: str = "all",
        category: str = "all",
        sort: str = "first",
    ) -> dict:
        filters = {"editor": editor, "cause": cause, "program": program, "group": group, "kind": kind}
        return failures_tab.neighbours(self.dataset, chain, **filters, category=category, sort=sort)

    def place(self, chain: str, step: int) -> list[float]:
        return self.previews.changed_box(chain, step)

    def metrics_page(self) -> str:
        return metrics_tab.metrics_html(self.dataset)


PUBLIC = ("about", "leaderboard", "table", "failures", "compare", "curves", "chains", "chain", "pick", "step",
          "picture", "metrics", "agreement", "label_items", "label_agreement")  # fmt: skip
FOR_THE_PAGE = ("story", "board", "lines", "find", "neighbours", "place", "metrics_page")


def attach(endpoints: Endpoints, scorer: Scorer) -> None:
    """Add every endpoint to the Blocks that are open; they answer directly, without a queue."""
    import gradio as gr

    for name in (*PUBLIC, *FOR_THE_PAGE):
        visible = "public" if name in PUBLIC else "undocumented"
        answer = explain_errors(check_types(getattr(endpoints, name)))
        gr.api(answer, api_name=name, queue=False, api_visibility=visible)
    score_yours, score_files = endpoint(scorer), page_endpoint(scorer)
    gr.api(explain_errors(check_types(score_yours)), api_name="score_yours", concurrency_limit=2)
    answer = explain_errors(check_types(score_files))
    gr.api(answer, api_name="score_files", queue=False, api_visibility="undocumented")
