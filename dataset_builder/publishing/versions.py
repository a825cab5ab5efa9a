"""Versions of the dataset: vMAJOR.MINOR.PATCH, and which of the three a change asks for.

Major: the suite, the protocol or the schema changed, or chains are gone. Minor: chains or scores were added. Patch: the
card alone changed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convergebench.generation.records import UserError

from ..building.card_tables import count_text

LEVELS = ("patch", "minor", "major")


class Version(NamedTuple):
    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def parse(cls, tag: str) -> "Version":
        found = re.fullmatch(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", tag)
        if not found:
            raise UserError(f"no tag {tag!r}; a tag is vMAJOR.MINOR.PATCH, such as v1.0.0")
        return cls(*map(int, found.groups()))

    def next(self, level: str) -> "Version":
        return {
            "major": Version(self.major + 1, 0, 0),
            "minor": Version(self.major, self.minor + 1, 0),
            "patch": Version(self.major, self.minor, self.patch + 1),
        }[level]


@dataclass(frozen=True)
class State:
    """What a published version holds, or a folder that is to become one."""

    schema: Mapping[str, Sequence[Any]]  # features by config, as the card lists them
    rows: Mapping[str, int]
    chains: frozenset[str]
    suites: frozenset[tuple[str, str]]
    editors: frozenset[str]
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # data files: sha256 and size


@dataclass(frozen=True)
class Change:
    """What differs between two states, in words, and the level of version it asks for."""

    level: str
    words: tuple[str, ...]
    added: tuple[str, ...]  # data files to upload
    removed: tuple[str, ...]
    unchanged: int
    bytes: int  # of the files to upload


def describe_change(old: State | None, new: State) -> Change:
    """What changes from the last published version to what is to be published."""
    old_files = old.files if old else {}
    added = tuple(sorted(file for file, about in new.files.items() if old_files.get(file) != about))
    removed = tuple(sorted(set(old_files) - set(new.files)))
    major = major_changes(old, new) if old else []
    minor = minor_changes(old, new)
    if old and (added or removed) and not minor:
        minor = ["data files changed"]
    level = "major" if major else "minor" if minor else "patch"
    size = sum(new.files[file][1] for file in added)
    words = tuple([*major, *minor] or ["the card changed"])
    return Change(level, words, added, removed, len(new.files) - len(added), size)


def major_changes(old: State, new: State) -> list[str]:
    words = []
    for name in sorted(set(old.schema) & set(new.schema)):
        if old.schema[name] != new.schema[name]:
            before, after = (feature_names(schema[name]) for schema in (old.schema, new.schema))
            gone, more = sorted(before - after), sorted(after - before)
            # A metric added to the scores changes nothing for those who read the others.
            if name == "scores" and not gone and more:
                continue
            words.append(
                f"the schema of {name} changed ({', '.join([f'-{n}' for n in gone] + [f'+{n}' for n in more])})"
            )
    for name in sorted(set(old.schema) - set(new.schema)):
        words.append(f"the config {name} is gone")
    if lost := len(old.chains - new.chains):
        words.append(f"{count_text(lost, 'chain')} gone")
    known = dict(old.suites)
    for suite, version in sorted(new.suites):
        if known.get(suite, version) != version:
            words.append(f"suite {suite} went from version {known[suite]} to {version}")
    return words


def feature_names(features: Sequence[Any]) -> set[str]:
    return {f"{feature['name']}:{feature['dtype']}" for feature in features}


def minor_changes(old: State | None, new: State) -> list[str]:
    words = []
    before = old.chains if old else frozenset()
    if more := new.chains - before:
        editors = sorted(new.editors - (old.editors if old else frozenset()))
        words.append(
            f"{count_text(len(more), 'chain')} added" + (f", with the editors {', '.join(editors)}" if editors else "")
        )
    for name in sorted(set(new.schema) - set(old.schema if old else {})) if old else []:
        words.append(f"the config {name} is new")
    if old and "scores" in old.rows and old.rows["scores"] != new.rows.get("scores"):
        words.append(f"scores went from {old.rows['scores']:,} to {new.rows.get('scores', 0):,} rows")
    return words


def check_tag(tag: str, tags: Sequence[str], change: Change) -> Version:
    """Refuse a tag that does not come after the last one, or whose level is below that of the change."""
    wanted = Version.parse(tag)
    published = sorted(Version.parse(name) for name in tags if re.fullmatch(r"v\d+\.\d+\.\d+", name))
    if not published:
        return wanted
    last = published[-1]
    if wanted <= last:
        raise UserError(f"the tag {tag} does not come after the last one, {last}; choose a later one")
    level = "major" if wanted.major > last.major else "minor" if wanted.minor > last.minor else "patch"
    if LEVELS.index(level) < LEVELS.index(change.level):
        needed = last.next(change.level)
        raise UserError(f"{tag} is a {level} version after {last}, but {change.words[0]}; it must be {needed} or later")
    return wanted
