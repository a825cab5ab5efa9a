"""The best prompt of a method, chosen on one half of the clean pictures and judged on the other."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from .restoration import ByPicture, RestoredSet, better_sign, is_mean

Choice = Mapping[str, str]  # the prompt that a method uses for each clean picture


@dataclass(frozen=True)
class PromptScores:
    """A method's scores by metric on the pictures that all of its prompts have."""

    prompts: list[str]
    values: dict[str, np.ndarray]  # of each metric: a row for each prompt, a column for each picture
    clean: dict[str, np.ndarray]  # the clean picture of each column

    @property
    def clean_pictures(self) -> list[str]:
        """In an order by chance that depends on their names alone."""
        names = {str(name) for own in self.clean.values() for name in own}
        return sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())

    def means(self, metric: str, halves: np.ndarray) -> np.ndarray:
        """The mean of each prompt on each of some sets of clean pictures; NaN where a set has no picture of it.

        A row of `halves` marks the clean pictures of one set, in the order of `clean_pictures`.
        """
        place = {name: number for number, name in enumerate(self.clean_pictures)}
        marks = halves[:, [place[str(name)] for name in self.clean[metric]]].astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(marks @ self.values[metric].T / marks.sum(axis=1, keepdims=True))


def prompt_scores(each: RestoredSet, method: str, prompts: Sequence[str]) -> PromptScores:
    """The scores of some prompts; a metric that they have on no common picture is left out."""
    values, clean = {}, {}
    for metric in each.metrics:
        parts = [each.by_picture(method, prompt, metric) for prompt in prompts]
        common = sorted(set.intersection(*(set(part) for part in parts))) if parts else []
        if common:
            values[metric] = np.array([[part[name] for name in common] for part in parts])
            clean[metric] = np.array([each.clean_of[name] for name in common])
    return PromptScores(list(prompts), values, clean)


def prompt_means(each: RestoredSet, method: str, prompts: Sequence[str]) -> dict[str, dict[str, float]]:
    """The mean of each prompt by metric, on the pictures that all of them have."""
    known = prompt_scores(each, method, prompts)
    return {
        prompt: {metric: float(own[place].mean()) for metric, own in known.values.items()}
        for place, prompt in enumerate(prompts)
    }


def best_places(means: Mapping[str, np.ndarray]) -> np.ndarray:
    """For each set of clean pictures the place of the prompt with the best mean rank over metrics."""
    ranks = [stats.rankdata(-better_sign(metric) * own, axis=1) for metric, own in means.items()]
    return np.asarray(np.mean(ranks, axis=0).argmin(axis=1))


def every_other(count: int) -> np.ndarray:
    """Two halves of so many clean pictures, as marks."""
    marks = np.arange(count) % 2 == 0
    return np.array([marks, ~marks])


def named_prompts(each: RestoredSet, method: str) -> list[str]:
    """The prompts that can be chosen from: those with scores of single pictures."""
    there = {p.prompt for p in each.pictures if p.method == method and p.values and not is_mean(p.picture)}
    return [prompt for prompt in each.prompts(method) if prompt in there]


def chosen_elsewhere(each: RestoredSet, method: str) -> Choice:
    """For each clean picture the prompt that is best on the half in which it is not; alike where there is one."""
    prompts = named_prompts(each, method)
    own = {p.clean for p in each.pictures if p.method == method and not is_mean(p.picture)}
    known = prompt_scores(each, method, prompts)
    names = known.clean_pictures
    first = dict.fromkeys(own, prompts[0] if prompts else "")
    if len(prompts) < 2 or len(names) < 2:
        return first
    halves = every_other(len(names))
    means = {metric: known.means(metric, halves) for metric in known.values}
    whole = {metric: found for metric, found in means.items() if np.isfinite(found).all()}
    if not whole:
        return first
    there, here = best_places(whole)
    chosen = {name: prompts[here if halves[0][place] else there] for place, name in enumerate(names)}
    return first | chosen


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
