"""The endpoints: every view of the Space for programs, under a readable name, with plain values in and out."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from convergebench.generation.records import UserError

from ..study.groups import role_in_tables
from . import chains_tab, curves_tab, metrics_tab
from .errors import DAMAGED_FILE, NoPicture, damage_sentence, explain_errors
from .leaderboard import Choice, leaderboard
from .previews import Previews
from .served_dataset import ServedDataset

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

    def chains(self, editor: str = "", source: str = "", program: str = "", start: int = 0) -> list[dict]:
        """Chains that match, 500 at a time: id, editor, picture, program, run, rounds, steps and how they ended."""
        found = [
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
            }
            for each in self.dataset.chains.values()
            if editor in ("", each.editor) and source in ("", each.source.id) and program in ("", each.program.id)
        ]
        return found[max(int(start), 0) :][:MOST_CHAINS]

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

    def picture(self, chain: str, step: int, kind: str = "view", gain: int = 8) -> dict:
        """The address of a picture: thumb, view, difference (amplified by gain) or received (the exact bytes)."""
        try:
            path = self.previews.path(chain, step, kind, gain)
        except NoPicture as error:
            return {"url": None, "reason": str(error)}
        except DAMAGED_FILE as error:
            return {"url": None, "reason": damage_sentence(error)}
        return {"url": f"/gradio_api/file={path}", "reason": None}


def attach(endpoints: Endpoints, score_yours: Callable) -> None:
    """Add every endpoint to the Blocks that are open; they answer directly, without a queue."""
    import gradio as gr

    for name in (
        "about",
        "leaderboard",
        "curves",
        "chains",
        "chain",
        "pick",
        "step",
        "picture",
        "metrics",
        "agreement",
    ):
        gr.api(explain_errors(check_types(getattr(endpoints, name))), api_name=name, queue=False)
    gr.api(explain_errors(check_types(score_yours)), api_name="score_yours", concurrency_limit=2)
