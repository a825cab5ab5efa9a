"""Prompts for restoration: their groups, and a method's best prompt, chosen on pictures that it is not judged on."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from .restored import ByPicture, RestoredSet, better_sign, is_mean, is_mean_of_all

LONG, SHORT, FAITHFUL, FREE = ("L", "LF"), ("S", "SF"), ("LF", "SF"), ("L", "S")
_PROMPT = re.compile(r"(?:restore-)?([a-z]+)-?\d+", re.IGNORECASE)


def prompt_group(prompt: str) -> str:
    """The group of a prompt: its name up to the number.

    >>> prompt_group("restore-sf1"), prompt_group("L3"), prompt_group("restore")
    ('SF', 'L', '')
    """
    match = _PROMPT.fullmatch(prompt)
    return match[1].upper() if match else ""


def prompt_name(prompt: str) -> str:
    """'SF1' for restore-sf1; other names are unchanged."""
    return prompt.removeprefix("restore-").upper() if prompt_group(prompt) else prompt


@dataclass(frozen=True)
class _PromptScores:
    """A method's scores by metric on the pictures that all of its prompts have."""

    prompts: list[str]
    values: dict[str, np.ndarray]  # of each metric: a row for each prompt, a column for each picture
    clean: dict[str, np.ndarray]  # the clean picture of each column

    @cached_property
    def clean_pictures(self) -> list[str]:
        """In a random order that depends on their names alone."""
        names = {str(name) for columns in self.clean.values() for name in columns}
        return sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())

    def means(self, metric: str, halves: np.ndarray) -> np.ndarray:
        """The mean of each prompt on each of some sets of clean pictures; NaN if a set has no picture of it.

        A row of `halves` marks the clean pictures of one set, in the order of `clean_pictures`.
        """
        place = {name: number for number, name in enumerate(self.clean_pictures)}
        marks = halves[:, [place[str(name)] for name in self.clean[metric]]].astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(marks @ self.values[metric].T / marks.sum(axis=1, keepdims=True))


def prompt_scores(table: RestoredSet, method: str, prompts: Sequence[str]) -> _PromptScores:
    """The scores of some prompts; a metric that they have on no common picture is left out."""
    values, clean = {}, {}
    for metric in table.metrics:
        parts = [table.by_picture(method, prompt, metric) for prompt in prompts]
        common = sorted(set.intersection(*(set(part) for part in parts))) if parts else []
        if common:
            values[metric] = np.array([[part[picture] for picture in common] for part in parts])
            clean[metric] = np.array([table.clean_of[picture] for picture in common])
    return _PromptScores(list(prompts), values, clean)


def best_prompts(means: Mapping[str, np.ndarray]) -> np.ndarray:
    """For each set of clean pictures the index of the prompt with the best mean rank over metrics."""
    ranks = [stats.rankdata(-better_sign(metric) * values, axis=1) for metric, values in means.items()]
    return np.asarray(np.mean(ranks, axis=0).argmin(axis=1))


def prompts_to_choose_from(table: RestoredSet, method: str) -> list[str]:
    """The prompts with scores of single pictures."""
    scored = {r.prompt for r in table.pictures if r.method == method and r.values and not is_mean(r.picture)}
    return [prompt for prompt in table.prompts(method) if prompt in scored]


def choose_prompts(table: RestoredSet, method: str) -> dict[str, str]:
    """For each clean picture, the prompt that is best on the half of the clean pictures without it."""
    prompts = prompts_to_choose_from(table, method)
    default = prompts[0] if prompts else ""
    choice = {r.clean: default for r in table.pictures if r.method == method and not is_mean(r.picture)}
    scores = prompt_scores(table, method, prompts)
    pictures = scores.clean_pictures
    if len(prompts) < 2 or len(pictures) < 2:
        return choice
    in_first = np.arange(len(pictures)) % 2 == 0
    means = {metric: scores.means(metric, np.array([in_first, ~in_first])) for metric in scores.values}
    complete = {metric: values for metric, values in means.items() if np.isfinite(values).all()}
    if not complete:
        return choice
    of_first, of_second = best_prompts(complete)
    return choice | {
        picture: prompts[of_second if is_in_first else of_first]
        for picture, is_in_first in zip(pictures, in_first, strict=True)
    }


def chosen_values(table: RestoredSet, method: str, choice: Mapping[str, str], metric: str) -> ByPicture:
    """Each picture's value by the prompt that was chosen for it, or the published means if there are only means."""
    parts = {prompt: table.by_picture(method, prompt, metric) for prompt in table.prompts(method)}
    single = {
        picture: value
        for prompt, part in parts.items()
        for picture, value in part.items()
        if not is_mean(picture) and choice.get(table.clean_of[picture]) == prompt
    }
    means = {picture: value for part in parts.values() for picture, value in part.items() if is_mean_of_all(picture)}
    return single or means
