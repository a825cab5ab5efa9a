"""What the Space answers to programs: every view of it under a readable name, with plain values in and out."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from . import board, chain_view, curve_view, metrics_view, story
from .board import Choice
from .previews import Previews, Unseen
from .store import Store, Unknown

PAGE = 500
DAMAGE = (pa.ArrowException, OSError)


def plainly(answer: Callable) -> Callable:
    """Errors that a visitor can mend, or should know of, become one sentence instead of a trace."""

    @functools.wraps(answer)
    def told(*arguments: Any, **named: Any) -> Any:
        import gradio as gr

        try:
            return answer(*arguments, **named)
        except (Unknown, Unseen) as error:
            raise gr.Error(str(error), print_exception=False) from error
        except DAMAGE as error:
            raise gr.Error(damaged(error), print_exception=False) from error

    return told


def damaged(error: BaseException) -> str:
    """The error's own words, without the paths of this machine."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    words = " ".join(word for word in line.split() if "/" not in word)[:200]
    return f"a file of this dataset cannot be read ({words})"


KINDS = {str: "a text", int: "a whole number", float: "a number", list[str]: "a list of texts"}


def typed(answer: Callable) -> Callable:
    """Refuses what is not of the type that the endpoint names, before anything is looked up."""
    about = inspect.signature(answer)

    @functools.wraps(answer)
    def checked(*arguments: Any, **named: Any) -> Any:
        given = about.bind(*arguments, **named)
        for name, value in given.arguments.items():
            kind = about.parameters[name].annotation
            if not fits(value, kind):
                raise Unknown(f"{name} is {str(value)[:40]!r}; it is {KINDS[kind]}")
        return answer(*given.args, **given.kwargs)

    return checked


def fits(value: Any, kind: Any) -> bool:
    if kind == list[str]:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


class Answers:
    """One method for each endpoint; its docstring is what the API's page says."""

    def __init__(self, store: Store, previews: Previews):
        self.store, self.previews = store, previews

    def about(self) -> dict:
        """What is in this dataset: editors, pictures, programs, suites, counts."""
        return story.about(self.store)

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
        found = board.board(self.store, Choice(group, kind, category, metric, threshold, tuple(editors)))
        return {
            "title": found.table.rows[0]["name"] if found.table.rows else found.table.note,
            "rows": [{key: row.get(key) for key in found.table.keys} for row in found.table.rows],
            "versus": [dict(row) for row in found.versus.rows],
        }

    def curves(
        self, metric: str = "quality", group: str = "", kind: str = "all", category: str = "all", threshold: float = 0.5
    ) -> list[dict]:
        """Mean, limits and median of a metric for each editor and round."""
        return curve_view.rows(self.store, Choice(group, kind, category, threshold=threshold), metric)

    def chains(self, editor: str = "", source: str = "", program: str = "", start: int = 0) -> list[dict]:
        """Chains that match, 500 at a time: id, editor, picture, program, run, rounds, steps and how they ended."""
        keys = ("chain", "editor", "source", "program", "run", "rounds", "steps", "status", "category", "kind")
        wanted = {"editor": editor, "source": source, "program": program}
        found = [
            {key: row[key] for key in keys}
            for row in self.store.chains.values()
            if all(not value or row[name] == value for name, value in wanted.items())
        ]
        return found[max(int(start), 0) :][:PAGE]

    def chain(self, chain: str) -> dict:
        """One chain in full: every step's words, seed, scores, cost and status, its curves and what became of it."""
        return chain_view.view(self.store, chain)

    def pick(self, how: str = "surprise", editor: str = "") -> str:
        """The id of a chain: surprise, worst or longest; of one editor where one is named."""
        return chain_view.pick(self.store, how, editor)

    def step(self, chain: str, step: int) -> dict:
        """One step: its words and numbers, and the address of its picture on this server."""
        view = chain_view.view(self.store, chain)
        found = [each for each in view["steps"] if each["step"] == step]
        if not found:
            raise Unknown(f"chain {chain} has no step {str(step)[:40]!r}; its steps are 0 to {len(view['steps']) - 1}")
        return found[0] | self.picture(chain, step)

    def metrics(self, chain: str) -> list[dict]:
        """All metrics of one chain on the scale from 0 to 1, one row per metric and return."""
        return metrics_view.curves(self.store, chain)

    def agreement(self) -> dict:
        """Rank correlations between the metrics over all returns, and how often each has fallen furthest."""
        return metrics_view.agreement(self.store)

    def picture(self, chain: str, step: int, kind: str = "view", gain: int = 8) -> dict:
        """The address of a picture: thumb, view, difference (amplified by gain) or received (the exact bytes)."""
        try:
            path = self.previews.path(chain, step, kind, gain)
        except Unseen as error:
            return {"url": None, "reason": str(error)}
        except DAMAGE as error:
            return {"url": None, "reason": damaged(error)}
        return {"url": f"/gradio_api/file={path}", "reason": None}


def attach(answers: Answers, score_yours: Callable) -> None:
    """Make every answer an endpoint; called inside the Blocks. They answer directly, without a queue."""
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
        gr.api(plainly(typed(getattr(answers, name))), api_name=name, queue=False)
    gr.api(plainly(typed(score_yours)), api_name="score_yours", concurrency_limit=2)
