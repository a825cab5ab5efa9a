"""The tab Labels, where people judge pictures: which pictures they see, and in which order.

The server stores no answers: they stay in the browser until the visitor saves them as a file.
"""

import hashlib
from functools import lru_cache
from itertools import combinations
from typing import Any

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS
from convergebench.generation.records import FinishedChain, UserError
from convergebench.metric_modules.edit_applied.cycles import roles

from ....space.served_dataset import ServedDataset

TITLE, ORDER = "Labels", 80
_PAGE_SIZE = 60  # items in one answer
_COUNTED_STEPS = (1, 2, 5, 10, 20, 50, 100)  # steps at which people count the things that were added
NOTE = (
    "You see pictures, but never which editor made them. Your answers stay in this browser until you save them as a "
    "file; this page stores nothing elsewhere. The maintainers add files with `convergebench import --layout labels`."
)
_Item = dict[str, Any]


def label_items(dataset: ServedDataset, question: str = "failure", start: int = 0) -> dict:
    """Pictures to judge, without editor names, 60 at a time, in a random order that is the same for everybody."""
    if question not in QUESTIONS:
        raise UserError(f"no question {question[:40]!r}; the questions are {', '.join(QUESTIONS)}")
    items = _all_items(dataset, question)
    return {"total": len(items), "items": items[max(start, 0) :][:_PAGE_SIZE]}


@lru_cache(maxsize=8)
def _all_items(dataset: ServedDataset, question: str) -> list[_Item]:
    by_task: dict[tuple[str, str], list[FinishedChain]] = {}
    for chain in dataset.chains:
        by_task.setdefault((chain.source.id, chain.program.id), []).append(chain)
    items: list[_Item] = []
    for task in sorted(by_task, key=lambda task: _shuffle_key("task", *task)):
        chains = sorted(by_task[task], key=lambda chain: _shuffle_key(question, chain.id))
        if question == "pair":
            items += _pairs_of(dataset, chains)
        else:
            items += [
                _item_at(dataset, chain, step) for chain in chains for step in _steps(dataset, chain, question)
            ]
    return items


def _shuffle_key(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def _steps(dataset: ServedDataset, chain: FinishedChain, question: str) -> list[int]:
    shown = sorted(step for step, row in dataset.scores_of(chain.id).items() if row.status in ("ok", "shrunk"))
    kinds = [role.kind for role in roles(chain.program.cycle, chain.program.closes)]
    if question == "count":  # of chains that only add: the input, some steps and the last picture
        counted = [step for step in shown if step in _COUNTED_STEPS or step == shown[-1]]
        return [0, *counted] if counted and not chain.program.closes else []
    if question in ("applied", "else"):  # a first step that asks for a change: the picture before is the original
        return [step for step in shown if step == 1 and kinds[0] == "forward"]
    if question == "undone" and "undo" not in kinds:
        return []
    return [step for step in shown if step % len(kinds) == 0][-1:]


def _pairs_of(dataset: ServedDataset, chains: list[FinishedChain]) -> list[_Item]:
    last = {chain.id: step for chain in chains for step in _steps(dataset, chain, "pair")}
    items = []
    for first, second in combinations([chain for chain in chains if chain.id in last], 2):
        if first.run == second.run and first.editor != second.editor:
            sides = {_shuffle_key(first.id, second.id, chain.id): chain for chain in (first, second)}
            left, right = (sides[key] for key in sorted(sides))
            item = _item_at(dataset, left, last[left.id])
            items.append(item | {"other_chain": right.id, "other_step": last[right.id]})
    return items


def _item_at(dataset: ServedDataset, chain: FinishedChain, step: int) -> _Item:
    row, program = dataset.scores_of(chain.id).get(step), chain.program
    round, position = divmod(step - 1, len(program.cycle)) if step else (0, -1)
    thing = {} if program.closes else {"thing": program.shows.removeprefix("one more ") or "what was asked for"}
    return thing | {
        "chain": chain.id,
        "step": step,
        "sha256": row.sha256 if row else None,
        "words": [program.instruction(round + 1, place) for place in range(1, position + 2)],
        "round": round + 1,
        "before": "degraded" if program.category == "restoration" else "original",
        "picture": dataset.title(chain.source.id),
    }


def page_data(dataset: ServedDataset) -> dict[str, Any]:
    answers = {code: [answer._asdict() for answer in question.answers] for code, question in QUESTIONS.items()}
    return {
        "questions": [question._asdict() | {"answers": answers[code]} for code, question in QUESTIONS.items()]
    }


PUBLIC = (label_items,)
