"""Labels: people judge pictures; what they are shown, in which order, and how far they agree.

The server stores no answers: they stay in the browser until the visitor saves them as a file.
"""

import hashlib
import json
from functools import lru_cache
from itertools import combinations
from typing import Any

from convergebench.dataset_builder.studies.labels.labels import FORMAT, QUESTIONS, label_from_values
from convergebench.generation.records import FinishedChain, UserError
from convergebench.metric_modules.edit_applied.cycles import roles

from ....space.served_dataset import ServedDataset
from ..answers import labelled_items
from ..statistics.label_agreement import agreement_rows

TITLE, ORDER = "Labels", 80
_PAGE = 60  # items in one answer
_COUNTED_STEPS = (1, 2, 5, 10, 20, 50, 100)  # steps whose pictures show how many things were added
_MOST_TEXT = 4_000_000  # characters of labels in one request for agreement
_NOTE = (
    "You see pictures, but never which editor made them. Your answers stay in this browser until you save them as a "
    "file; this page stores nothing elsewhere. The maintainers add files with `convergebench labels add`."
)
_Item = dict[str, Any]


def label_items(dataset: ServedDataset, question: str = "failure", start: int = 0) -> dict:
    """Pictures for people to judge without names, 60 at a time, in a random order that is the same for everybody."""
    if question not in QUESTIONS:
        raise UserError(f"no question {question[:40]!r}; the questions are {', '.join(QUESTIONS)}")
    items = _all_items(dataset, question)
    return {"total": len(items), "items": items[max(start, 0) :][:_PAGE]}


@lru_cache(maxsize=8)
def _all_items(dataset: ServedDataset, question: str) -> list[_Item]:
    """Every item of a question; those of one picture and program follow each other."""
    by_task: dict[tuple[str, str], list[FinishedChain]] = {}
    for chain in dataset.chains:
        by_task.setdefault((chain.source.id, chain.program.id), []).append(chain)
    items: list[_Item] = []
    for task in sorted(by_task, key=lambda task: _chance("task", *task)):
        chains = sorted(by_task[task], key=lambda chain: _chance(question, chain.id))
        items += _items_of_task(dataset, question, chains)
    return items


def _items_of_task(dataset: ServedDataset, question: str, chains: list[FinishedChain]) -> list[_Item]:
    """The items of one picture and program."""
    if question == "pair":
        return _pairs_of(dataset, chains)
    if question == "count":
        return [item for chain in chains for item in _counted_items(dataset, chain)]
    if question == "reversible":
        return [item for chain in chains if (item := _edited_item(dataset, chain))][:1]
    if question in ("applied", "else"):
        return [item for chain in chains if (item := _first_edit(dataset, chain))]
    if question == "undone":
        chains = [chain for chain in chains if "undo" in _kinds_of(chain)]
    return [item for chain in chains if (item := _last_return(dataset, chain))]


def _chance(*parts: str) -> str:
    """A random sort key that depends on names alone."""
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def _last_return(dataset: ServedDataset, chain: FinishedChain) -> _Item | None:
    """The last picture of a chain that ends a round."""
    length = len(chain.program.cycle)
    for step in sorted(dataset.scores_of(chain.id), reverse=True):
        if step % length == 0 and _is_shown(dataset, chain.id, step):
            return _item_at(dataset, chain, step)
    return None


def _edited_item(dataset: ServedDataset, chain: FinishedChain) -> _Item | None:
    """The picture after all edits of the first round; None if the round undoes nothing."""
    kinds = _kinds_of(chain)
    if "undo" not in kinds:
        return None
    step = kinds.index("undo")
    return _item_at(dataset, chain, step) if step and _is_shown(dataset, chain.id, step) else None


def _first_edit(dataset: ServedDataset, chain: FinishedChain) -> _Item | None:
    """The first step of a chain if it asks for a change: the picture before it is the original."""
    forward = _kinds_of(chain)[0] == "forward"
    return _item_at(dataset, chain, 1) if forward and _is_shown(dataset, chain.id, 1) else None


def _counted_items(dataset: ServedDataset, chain: FinishedChain) -> list[_Item]:
    """The input of a chain that only adds, some of its steps and its last picture, with what is to be counted."""
    if chain.program.closes:
        return []
    shown = [step for step in sorted(dataset.scores_of(chain.id)) if step and _is_shown(dataset, chain.id, step)]
    steps = [step for step in shown if step in _COUNTED_STEPS or step == shown[-1]]
    thing = chain.program.shows.removeprefix("one more ") or "what was asked for"
    return [_item_at(dataset, chain, step) | {"thing": thing} for step in ([0, *steps] if steps else [])]


def _kinds_of(chain: FinishedChain) -> list[str]:
    """What each position of the cycle does: forward, undo or neither."""
    return [role.kind for role in roles(chain.program.cycle, chain.program.closes)]


def _pairs_of(dataset: ServedDataset, chains: list[FinishedChain]) -> list[_Item]:
    """The last returns of every two editors in the same run, with a random side for each."""
    items = []
    for first, second in combinations(chains, 2):
        if first.run == second.run and first.editor != second.editor:
            pair = first.id, second.id
            left, right = sorted((first, second), key=lambda chain, pair=pair: _chance(*pair, chain.id))  # type: ignore[misc]
            left_item, right_item = _last_return(dataset, left), _last_return(dataset, right)
            if left_item and right_item:
                items.append(left_item | {"other_chain": right.id, "other_step": right_item["step"]})
    return items


def _is_shown(dataset: ServedDataset, chain: str, step: int) -> bool:
    """Whether a picture came back in that step."""
    row = dataset.scores_of(chain).get(step)
    return row is not None and row.status in ("ok", "shrunk")


def _item_at(dataset: ServedDataset, chain: FinishedChain, step: int) -> _Item:
    """What a labeller is shown, and what the label will name."""
    row = dataset.scores_of(chain.id).get(step)
    round, position = divmod(step - 1, len(chain.program.cycle)) if step else (0, -1)
    row = dataset.scores_of(chain.id).get(step)
    return {
        "chain": chain.id,
        "step": step,
        "sha256": row.sha256 if row else None,
        "words": [chain.program.instruction(round + 1, place) for place in range(1, position + 2)],
        "round": round + 1,
        "before": "degraded" if chain.program.category == "restoration" else "original",
        "picture": dataset.title(chain.source.id),
    }


def label_agreement(dataset: ServedDataset, labels: str) -> list[dict]:
    """Krippendorff's alpha, with limits, of the labels in a saved file's text, which is not stored."""
    if len(labels) > _MOST_TEXT:
        raise UserError(f"the labels have {len(labels):,} characters; at most {_MOST_TEXT:,} are read")
    try:
        content = json.loads(labels)
    except (ValueError, RecursionError):
        raise UserError("the labels are not JSON; give the text of a file that this page saved") from None
    rows = content.get("labels") if isinstance(content, dict) and content.get("format") == FORMAT else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(
            'the labels are not {"format": 1, "labels": [...]}; give the text of a file that this page saved'
        )
    file_labels = [label_from_values(f"label {place}", row) for place, row in enumerate(rows, 1)]
    return [row.cells for row in agreement_rows(labelled_items(file_labels, dataset.chains))]


def words(dataset: ServedDataset) -> dict[str, str]:
    return {"note": _NOTE}


def known(dataset: ServedDataset) -> dict[str, Any]:
    """The questions as the page asks them."""
    questions = [
        {
            "code": question.code,
            "title": question.title,
            "words": question.words,
            "pair": question.pictures == "two after",
            "most": question.most,
            "answers": [
                {"code": answer.code, "key": answer.key, "words": answer.words, "level": answer.level}
                for answer in question.answers
            ],
        }
        for question in QUESTIONS.values()
    ]
    return {"questions": questions}


PUBLIC = (label_items, label_agreement)
