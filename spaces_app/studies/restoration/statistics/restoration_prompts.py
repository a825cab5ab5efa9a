from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial

from ....analysis.analysis import Analysis
from ....analysis.cases import CURVES
from ....analysis.tables import Estimate, TableRow, column, columns_by_key
from ....statistics import OnPage
from ..restored import (
    RestoredSet,
    better_sign,
    mean_over,
    metric_title,
    prompt_group,
    prompt_name,
    rows_by_method,
    score_column,
)

TITLE = "Restoration by prompt"
SECTION = "Restoration"
ON_PAGE = OnPage(order=10, part_by="part", line_where="group")
_GROUPS = {"L": "long", "LF": "long, with fidelity words", "S": "short", "SF": "short, with fidelity words"}


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    editor: str = column("Method", shown=False)
    part: str = column("Part", shown=False)
    group: str = column("Group")
    prompt: str = column("Prompt")
    words: int | None = column("Words", "count")
    scores: Mapping[str, Estimate] = columns_by_key(score_column)
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")


def _method_rows(table: RestoredSet, method: str) -> Iterator[Row]:
    """Rows for each prompt, each group and each pair of groups; all prompts count the same in a mean."""
    groups: dict[str, list[str]] = {}
    for prompt in filter(None, table.prompts(method)):
        groups.setdefault(prompt_group(prompt), []).append(prompt)
    for group, prompts in groups.items():
        yield from (_row(table, method, group, [prompt]) for prompt in prompts)
        if len(prompts) > 1 and group:
            yield _row(table, method, group, prompts)
    for names in (("L", "LF"), ("S", "SF"), ("L", "S"), ("LF", "SF")):
        if all(len(groups.get(name, ())) > 1 for name in names):
            yield _row(table, method, " + ".join(names), [prompt for name in names for prompt in groups[name]])


rows = partial(rows_by_method, _method_rows)


def _row(table: RestoredSet, method: str, group: str, prompts: list[str]) -> Row:
    parts = {metric: [table.by_picture(method, prompt, metric) for prompt in prompts] for metric in table.metrics}
    scores = dict.fromkeys(table.metrics, Estimate())
    for metric, values in parts.items():
        if all(values):
            means = [sum(part.values()) / len(part) for part in values]
            scores[metric] = table.mean(metric, mean_over(values))._replace(value=sum(means) / len(means))
    words = next(r.words for r in table.pictures if (r.method, r.prompt) == (method, prompts[0]))
    return Row(
        table=table.name or None,
        editor=method,
        part=f"{method} ({table.name})" if table.name else method,
        group=group,
        prompt=prompt_name(prompts[0]) if len(prompts) == 1 else "mean",
        words=words if len(prompts) == 1 else None,
        scores=scores,
        **table.counts(part for values in parts.values() for part in values),
    )


def note(analysis: Analysis, rows: list[Row]) -> str:
    groups = ", ".join(
        f"{name} {words}" for name, words in _GROUPS.items() if any(row.group == name for row in rows)
    )
    sentences = [
        "A restored picture is compared with the clean one, if there is one; the last metrics need none. "
        "Repeated runs are averaged; ranges are across clean pictures.",
        *([f"Groups: {groups}."] if groups else []),
    ]
    for part in dict.fromkeys(row.part for row in rows):
        sentences += _tradeoff(part, [row for row in rows if row.part == part and row.prompt != "mean"])
    return " ".join(sentences)


def _tradeoff(part: str, rows: list[Row]) -> Iterator[str]:
    best_by: dict[str, list[str]] = defaultdict(list)  # the metrics by which each prompt looks best
    worst_by: dict[str, list[str]] = defaultdict(list)  # and those by which it is the least faithful
    for metric in rows[0].scores if len(rows) > 1 else ():
        values = {
            row.prompt: better_sign(metric) * row.scores[metric].value for row in rows if row.scores[metric].value
        }
        if len(values) == len(rows) and metric in CURVES:
            worst_by[min(values, key=values.__getitem__)].append(metric_title(metric))
        elif len(values) == len(rows):
            best_by[max(values, key=values.__getitem__)].append(metric_title(metric))
    for prompt in [prompt for prompt in best_by if prompt in worst_by]:
        best, last = ", ".join(best_by[prompt]), ", ".join(worst_by[prompt])
        yield f"{prompt} of {part} looks best by {best} and is the least faithful by {last}."
