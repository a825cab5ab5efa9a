"""What choosing the best prompt is worth: chosen on one half of the clean pictures, reported on the other."""

from collections import Counter
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from ..study.prompt_choice import best_prompt, halves, named_prompts, prompt_means
from ..study.restoration import RestoredSet, better_sign, each_method, metric_title, prompt_name
from ..study.study import Study
from ..study.tables import Column
from . import OnPage, Rows

TITLE = "The best prompt, chosen on one half and reported on the other"
SECTION = "Restoration"
HALVINGS = 100
OVERALL = "all metrics (mean rank)"
ON_PAGE = OnPage(order=25, part_by="editor", folded=True)
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("by", "Chosen by"),
    Column("prompt", "Mostly chosen"),
    Column("share", "in so many halvings", "share"),
    Column("metric", "Metric"),
    Column("inside", "On the half of the choice", "score"),
    Column("outside", "On the other half", "score"),
    Column("gain_inside", "Better than the mean prompt there by", "score"),
    Column("gain_outside", "and on the other half by", "score"),
    Column("clean", "Clean pictures", "count"),
)


def rows(study: Study) -> list[dict[str, Any]]:
    """A row for each method and metric, chosen by that metric; then one for each metric chosen by all together."""
    return each_method(study.restored, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    prompts = named_prompts(each, method)
    clean = {p.clean for p in each.pictures if p.method == method and p.values}
    if len(prompts) < 2 or len(clean) < 4:
        return []
    tried = []
    for seed in range(HALVINGS):
        first, second = halves(clean, seed)
        tried.append(tuple(prompt_means(each, method, prompts, each.metrics, half) for half in (first, second)))
    found = []
    for by in (*each.metrics, OVERALL):
        picked = []
        for inside, outside in tried:
            wanted = [by] if by != OVERALL else [m for m in each.metrics if m in inside[prompts[0]]]
            if wanted and all(m in half[prompts[0]] for m in wanted for half in (inside, outside)):
                chosen = best_prompt({one: {m: inside[one][m] for m in wanted} for one in prompts})
                picked.append((chosen, inside, outside))
        if not picked:
            continue
        [(most, times)] = Counter(chosen for chosen, _, _ in picked).most_common(1)
        for metric in each.metrics if by == OVERALL else [by]:
            known = [one for one in picked if metric in one[1][one[0]] and metric in one[2][one[0]]]
            if known:
                found.append(
                    {
                        "by": metric_title(by) if by != OVERALL else OVERALL,
                        "prompt": prompt_name(most),
                        "share": times / len(picked),
                        "metric": metric_title(metric),
                        "inside": fmean(inside[chosen][metric] for chosen, inside, _ in known),
                        "outside": fmean(outside[chosen][metric] for chosen, _, outside in known),
                        "gain_inside": fmean(gain(inside, chosen, metric) for chosen, inside, _ in known),
                        "gain_outside": fmean(gain(outside, chosen, metric) for chosen, _, outside in known),
                        "clean": len(clean),
                    }
                )
    return found


def gain(means: Mapping[str, Mapping[str, float]], chosen: str, metric: str) -> float:
    """How much better a prompt is than the mean of all on the same pictures."""
    return better_sign(metric) * (means[chosen][metric] - fmean(own[metric] for own in means.values()))


def note(study: Study, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        f"The clean pictures are halved at random {HALVINGS} times. What a chosen prompt scores on the half it was "
        "chosen on flatters it; what it scores on the other half can be expected of it."
    )
