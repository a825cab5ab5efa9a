"""The tab in which people label pictures: what is shown, in which order, and how far those who answered agree.

Nothing that anybody answers is kept here: answers stay in the browser, and leave it as a file of the visitor's.
"""

import hashlib
import json
from functools import lru_cache
from itertools import combinations
from typing import Any

from convergebench.dataset_builder.studies.labels.labels import FORMAT, QUESTIONS, label_from_values
from convergebench.generation.records import FinishedChain, UserError
from convergebench.metric_modules.edit_applied.cycles import roles

from ..studies.labels.people import labelled_items
from ..studies.labels.statistics.label_agreement import agreement_rows
from ..studies.restoration.restored import CATEGORY
from .served_dataset import ServedDataset

PAGE = 60  # items in one answer
COUNTED_STEPS = (1, 2, 5, 10, 20, 50, 100)  # in which things that were added are counted
MOST_TEXT = 4_000_000  # characters of labels that agreement is asked of
NOTE = (
    "You see pictures, and never which editor made them. Your answers stay in this browser until you save them as a "
    "file: this page sends nothing away to be kept. Who runs the benchmark adds files with `convergebench labels add`."
)
Item = dict[str, Any]


def label_items(dataset: ServedDataset, question: str = "failure", start: int = 0) -> dict[str, Any]:
    """A page of the items of a question, 60 at a time, in an order by chance that is the same for everybody."""
    if question not in QUESTIONS:
        raise UserError(f"no question {question[:40]!r}; the questions are {', '.join(QUESTIONS)}")
    found = all_items(dataset, question)
    return {"total": len(found), "items": found[max(start, 0) :][:PAGE]}


@lru_cache(maxsize=8)
def all_items(dataset: ServedDataset, question: str) -> list[Item]:
    """Every item of a question; those of one picture and program follow each other."""
    by_task: dict[tuple[str, str], list[FinishedChain]] = {}
    for chain in dataset.chains.values():
        by_task.setdefault((chain.source.id, chain.program.id), []).append(chain)
    found = []
    for task in sorted(by_task, key=lambda task: chance("task", *task)):
        chains = sorted(by_task[task], key=lambda chain: chance(question, chain.id))
        if question == "reversible":
            found += [item for item in (edited_item(dataset, chain) for chain in chains) if item][:1]
        elif question == "pair":
            found += pairs_of(dataset, chains)
        elif question in ("applied", "else"):
            found += [item for item in (first_edit(dataset, chain) for chain in chains) if item]
        elif question == "count":
            found += [item for chain in chains for item in counted_items(dataset, chain)]
        elif question == "undone":
            returned = (last_return(dataset, chain) for chain in chains if "undo" in kinds_of(chain))
            found += [item for item in returned if item]
        else:
            found += [item for item in (last_return(dataset, chain) for chain in chains) if item]
    return found


def chance(*parts: str) -> str:
    """A place by chance that depends on names alone."""
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def last_return(dataset: ServedDataset, chain: FinishedChain) -> Item | None:
    """The last picture of a chain that ends a round."""
    length = len(chain.program.cycle)
    for step in sorted(dataset.scores_of(chain.id), reverse=True):
        if step % length == 0 and is_shown(dataset, chain.id, step):
            return item_at(dataset, chain, step)
    return None


def edited_item(dataset: ServedDataset, chain: FinishedChain) -> Item | None:
    """The picture in which all edits of the first round are made, where something is taken back after it."""
    kinds = kinds_of(chain)
    if "undo" not in kinds:
        return None
    step = kinds.index("undo")
    return item_at(dataset, chain, step) if step and is_shown(dataset, chain.id, step) else None


def first_edit(dataset: ServedDataset, chain: FinishedChain) -> Item | None:
    """The first step of a chain, where that asks for a change: the picture before it is the original."""
    forward = kinds_of(chain)[0] == "forward"
    return item_at(dataset, chain, 1) if forward and is_shown(dataset, chain.id, 1) else None


def counted_items(dataset: ServedDataset, chain: FinishedChain) -> list[Item]:
    """The input of a chain that only adds, some of its steps and its last picture, with what is to be counted."""
    if chain.program.closes:
        return []
    shown = [step for step in sorted(dataset.scores_of(chain.id)) if step and is_shown(dataset, chain.id, step)]
    steps = [step for step in shown if step in COUNTED_STEPS or step == shown[-1]]
    thing = chain.program.shows.removeprefix("one more ") or "what was asked for"
    return [item_at(dataset, chain, step) | {"thing": thing} for step in ([0, *steps] if steps else [])]


def kinds_of(chain: FinishedChain) -> list[str]:
    """What each position of the cycle does: forward, undo or neither."""
    return [role.kind for role in roles(chain.program.cycle, chain.program.closes)]


def pairs_of(dataset: ServedDataset, chains: list[FinishedChain]) -> list[Item]:
    """Every two editors' last returns of one run; chance says which is on the left."""
    found = []
    for one, other in combinations(chains, 2):
        if one.run == other.run and one.editor != other.editor:
            left, right = sorted((one, other), key=lambda chain: chance(one.id, other.id, chain.id))
            items = last_return(dataset, left), last_return(dataset, right)
            if items[0] and items[1]:
                found.append(items[0] | {"other_chain": right.id, "other_step": items[1]["step"]})
    return found


def is_shown(dataset: ServedDataset, chain: str, step: int) -> bool:
    """Whether a picture came back in that step."""
    row = dataset.scores_of(chain).get(step)
    return row is not None and row["status"] in ("ok", "shrunk")


def item_at(dataset: ServedDataset, chain: FinishedChain, step: int) -> Item:
    """What a labeller is shown, and what the label will name."""
    round, position = divmod(step - 1, len(chain.program.cycle)) if step else (0, -1)
    return {
        "chain": chain.id,
        "step": step,
        "sha256": dataset.scores_of(chain.id).get(step, {}).get("sha256"),
        "words": [chain.program.instruction(round + 1, place) for place in range(1, position + 2)],
        "round": round + 1,
        "before": "degraded" if chain.program.category == CATEGORY else "original",
        "picture": dataset.title(chain.source.id),
    }


def label_agreement(dataset: ServedDataset, labels: str) -> list[dict[str, Any]]:
    """How far people agree whose labels are given as the text of a saved file; nothing of it is kept."""
    if len(labels) > MOST_TEXT:
        raise UserError(f"the labels have {len(labels):,} characters; at most {MOST_TEXT:,} are looked at")
    try:
        values = json.loads(labels)
    except (ValueError, RecursionError):
        raise UserError("the labels are not JSON; they are the text of a file that this page saved") from None
    given = values.get("labels") if isinstance(values, dict) and values.get("format") == FORMAT else None
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise UserError('the labels are not {"format": 1, "labels": [...]}; they are the text of a saved file')
    found = [label_from_values(f"label {place}", each) for place, each in enumerate(given, 1)]
    return agreement_rows(labelled_items(found, list(dataset.chains.values())))


def questions() -> list[dict[str, Any]]:
    """The questions as the page asks them."""
    return [
        {
            "code": each.code,
            "title": each.title,
            "words": each.words,
            "pair": each.pictures == "two after",
            "most": each.most,
            "answers": [{"code": a.code, "key": a.key, "words": a.words, "level": a.level} for a in each.answers],
        }
        for each in QUESTIONS.values()
    ]
