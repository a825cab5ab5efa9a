"""The best prompt of a method, chosen on one half of the clean pictures and judged on the other."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from scipy import stats

from .restoration import ByPicture, RestoredSet, better_sign, is_mean

Choice = Mapping[str, str]  # the prompt that a method uses for each picture


def halves(clean: Collection[str], seed: int | None = None) -> tuple[set[str], set[str]]:
    """Two halves of the clean pictures by a hash of their names, or drawn at random."""
    names = sorted(clean, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    if seed is not None:
        names = [names[place] for place in np.random.default_rng(seed).permutation(len(names))]
    return set(names[::2]), set(names[1::2])


def best_prompt(means: Mapping[str, Mapping[str, float]]) -> str:
    """The prompt with the best mean rank over metrics; `means` are by prompt and metric, all of them there."""
    prompts = list(means)
    metrics = list(means[prompts[0]])
    ranks = [stats.rankdata([-better_sign(metric) * means[prompt][metric] for prompt in prompts]) for metric in metrics]
    order = np.mean(ranks, axis=0)
    return prompts[int(np.argmin(order))]


def prompt_means(
    each: RestoredSet, method: str, prompts: Sequence[str], metrics: Sequence[str], clean: Collection[str] | None = None
) -> dict[str, dict[str, float]]:
    """The means of each prompt on the pictures of some clean ones; a metric that a prompt lacks there is left out."""
    found: dict[str, dict[str, float]] = {prompt: {} for prompt in prompts}
    for metric in metrics:
        parts = {prompt: each.by_picture(method, prompt, metric) for prompt in prompts}
        common = set.intersection(*(set(part) for part in parts.values()))
        own = [name for name in sorted(common) if clean is None or each.clean_of[name] in clean]
        if own:
            for prompt, part in parts.items():
                found[prompt][metric] = math.fsum(part[name] for name in own) / len(own)
    return found


def named_prompts(each: RestoredSet, method: str) -> list[str]:
    """The prompts that can be chosen from: those with scores of single pictures."""
    there = {p.prompt for p in each.pictures if p.method == method and p.values and not is_mean(p.picture)}
    return [prompt for prompt in each.prompts(method) if prompt in there]


def chosen_elsewhere(each: RestoredSet, method: str) -> Choice:
    """For each clean picture the prompt that is best on the half in which it is not; alike where there is one."""
    prompts = named_prompts(each, method)
    own = [p for p in each.pictures if p.method == method and not is_mean(p.picture)]
    clean = {p.clean for p in own}
    if len(prompts) < 2 or len(clean) < 2:
        return dict.fromkeys(clean, prompts[0] if prompts else "")
    found: dict[str, str] = {}
    first, second = halves(clean)
    for there, here in ((first, second), (second, first)):
        means = prompt_means(each, method, prompts, each.metrics, there)
        found |= dict.fromkeys(here, best_prompt(means) if means[prompts[0]] else prompts[0])
    return found


def values_of_choice(each: RestoredSet, method: str, choice: Choice, metric: str) -> ByPicture:
    """Each picture's value by the prompt that was chosen for it; a published mean where there are only means."""
    parts = {prompt: each.by_picture(method, prompt, metric) for prompt in each.prompts(method)}
    single = {
        name: value
        for prompt, part in parts.items()
        for name, value in part.items()
        if not is_mean(name) and choice.get(each.clean_of[name]) == prompt
    }
    return single or {name: value for part in parts.values() for name, value in part.items() if is_whole_mean(name)}


def is_whole_mean(name: str) -> bool:
    """Whether it stands for all pictures of a published table, and not for a scene or a degradation of it."""
    return is_mean(name) and name.endswith(": ")
