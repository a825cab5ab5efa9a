"""Publishes the dataset: checks, uploads what is new, and tags the commit.

A version is vMAJOR.MINOR.PATCH. Major: the suite, the protocol or the schema changed,
or chains are gone. Minor: chains or scores were added. Patch: only the card changed.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import UserError

from ..building import card
from ..building.card import count_text, escape
from ..dataset.reader import Reader
from . import hub
from .verify import check_publishable, front_matter

if TYPE_CHECKING:
    from huggingface_hub import HfApi

NEXT = "next"
_LEVELS = ("major", "minor", "patch")
_TAG = re.compile(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def parse_version(tag: str) -> tuple[int, ...]:
    match = _TAG.fullmatch(tag)
    if not match:
        raise UserError(f"{tag!r} is not a tag; a tag is vMAJOR.MINOR.PATCH, such as v1.0.0")
    return tuple(map(int, match.groups()))


def version_tags(tags: Sequence[str]) -> list[str]:
    """The tags that are versions, the newest last."""
    return sorted((tag for tag in tags if _TAG.fullmatch(tag)), key=parse_version)


# Of a version: the card's facts of each config; each chain's id, editor, suite and its version.
State = tuple[Mapping[str, Any], frozenset[tuple[str, ...]]]
Change = tuple[str, list[str]]  # the level of version that it requires, and what differs in words
Plan = dict[str, Any]  # what publishing would do; its keys are in `_plan_version`


def publish(
    api: "HfApi",
    folder: Path,
    repo: str,
    tag: str | None,
    progress: Callable[[str], None] = lambda file: None,
    report: Callable[[Plan], None] = lambda plan: None,
    dry_run: bool = False,
    headline_of: Callable[[Path], card.Headline | None] = lambda folder: None,
) -> Plan:
    """Publish a dataset folder as a version, unless it is a dry run; `commit` is then its id.

    The tag "next" is the one after the newest version, as high as the
    changes require. The card of a version begins with the headline.
    """
    check_publishable(folder, progress)
    plan = _plan_version(api, folder, repo, tag)
    tag = plan["tag"]
    report(plan)
    if dry_run or plan["commit"]:
        return plan | ({"commit": None} if dry_run else {})
    words = plan["changes"]
    if tag:
        versions = version_text(api, repo, tag, words)
        card.write(folder, (), repo, versions, headline=headline_of(folder))
    message = f"{tag}: {words[0]}" if tag else words[0]
    return plan | {"commit": hub.commit_files(api, repo, "dataset", _published_files(folder), message, tag)}


def _published_files(folder: Path) -> dict[str, Path]:
    pictures = [card.PICTURE] if card.search_card(folder, rf"\(({card.PICTURE})\)") else []
    return {file: folder / file for file in (card.CARD, *pictures, *Reader(folder).data_files())}


def _plan_version(api: "HfApi", folder: Path, repo: str, tag: str | None) -> Plan:
    reader = Reader(folder)
    files = reader.data_files()
    comparison = hub.compare(api, repo, "dataset", _published_files(folder), None if tag == NEXT else tag)
    tags = version_tags([*comparison.remote.tags])
    last = tags[-1] if tags else None
    new, old = _state_of(reader, folder / card.CARD), _published_state(api, repo, last) if last else None
    added = [file for file in comparison.added if file in files]
    level, changes = change = _describe_change(old, new, bool(added or comparison.removed))
    if tag == NEXT and last and not (comparison.added or comparison.removed):
        tag, comparison = last, comparison._replace(commit=comparison.remote.tags[last])
    elif tag == NEXT:
        tag = next_version(last, level)
    if tag and not comparison.commit:
        _check_tag(tag, tags, change)
    elif not tag and last is None:
        raise UserError(f"{repo} has no version yet; give the first one with --tag v1.0.0")
    before, after = _rows_of(old[0] if old else {}), _rows_of(new[0])
    return {
        "tag": tag,
        "last": last,  # the newest published version
        "level": level,
        "changes": changes,
        "rows": {name: (before.get(name, 0), after.get(name, 0)) for name in {**after, **before}},
        "added": added,  # data files to upload, and their size
        "bytes": sum((folder / file).stat().st_size for file in added),
        "removed": comparison.removed,
        "unchanged": len(files) - len(added),
        "foreign": comparison.foreign,  # files of others in the repository, which stay
        "commit": comparison.commit,  # if the tag already exists with exactly this folder
    }


def _published_state(api: "HfApi", repo: str, tag: str) -> State:
    """From the version's card and its small table of chains."""
    with hub.hub_errors_explained(repo):
        published = Path(api.hf_hub_download(repo, card.CARD, repo_type="dataset", revision=tag))
        return _state_of(Reader(f"hf://datasets/{repo}@{tag}", api), published)


def _state_of(reader: Reader, readme: Path) -> State:
    infos = {info["config_name"]: info for info in front_matter(readme)[0]["dataset_info"]}
    columns = reader.table("chains", ["chain", "editor", "suite", "suite_version"]).to_pydict().values()
    return infos, frozenset(zip(*columns, strict=True))


def _describe_change(old: State | None, new: State, has_other_files: bool = False) -> Change:
    """What changes from the last published version to what is to be published."""
    major = _major_changes(old, new) if old else []
    minor = _minor_changes(old, new, has_other_files)
    level = "major" if major else "minor" if minor else "patch"
    return level, [*major, *minor] or ["the card changed"]


def _major_changes(old: State, new: State) -> list[str]:
    (before, old_chains), (after, new_chains) = old, new
    words = [f"the config {name} is gone" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        features = (infos[name]["features"] for infos in (before, after))
        was, now = ({f"{column['name']}:{column['dtype']}" for column in columns} for columns in features)
        # A metric added to the scores changes nothing for those who read the others.
        if was != now and not (name == "scores" and was < now):
            columns = sorted(f"{'+' if column in now else '-'}{column}" for column in was ^ now)
            words.append(f"the schema of {name} changed ({', '.join(columns)})")
    if lost := {chain[0] for chain in old_chains} - {chain[0] for chain in new_chains}:
        words.append(f"{count_text(len(lost), 'chain')} gone")
    versions = {suite: version for *_, suite, version in old_chains}
    for suite, version in sorted({chain[2:] for chain in new_chains}):
        if versions.get(suite, version) != version:
            words.append(f"suite {suite} went from version {versions[suite]} to {version}")
    return words


def _minor_changes(old: State | None, new: State, has_other_files: bool) -> list[str]:
    (before, old_chains), (after, new_chains) = old or ({}, frozenset()), new
    words = []
    if added := {chain[0] for chain in new_chains} - {chain[0] for chain in old_chains}:
        editors = sorted({chain[1] for chain in new_chains} - {chain[1] for chain in old_chains})
        whose = f", with the editors {', '.join(editors)}" if editors else ""
        words.append(f"{count_text(len(added), 'chain')} added{whose}")
    if old:
        words += [f"the config {name} is new" for name in sorted(after.keys() - before.keys())]
        was, now = (_rows_of(infos).get("scores", 0) for infos in (before, after))
        if "scores" in before and was != now:
            words.append(f"scores went from {was:,} to {now:,} rows")
        if has_other_files and not words:
            words.append("data files changed")
    return words


def _rows_of(infos: Mapping[str, Any]) -> dict[str, int]:
    return {name: info["splits"][0]["num_examples"] for name, info in infos.items()}


def next_version(last: str | None, level: str) -> str:
    numbers, place = parse_version(last or "v0.0.0"), _LEVELS.index(level) if last else 0
    return "v" + ".".join(map(str, (*numbers[:place], numbers[place] + 1, *[0] * (2 - place))))


def _check_tag(tag: str, tags: Sequence[str], change: Change) -> None:
    """Refuse a tag that is not later, or whose level is too low."""
    wanted, published = parse_version(tag), version_tags(tags)
    if not published:
        return
    last = parse_version(published[-1])
    if wanted <= last:
        raise UserError(f"the tag {tag} does not come after the last one, {published[-1]}; choose a later one")
    place = next(place for place in range(3) if wanted[place] > last[place])
    if place > _LEVELS.index(change[0]):
        words = f"a {_LEVELS[place]} version after {published[-1]}, but {change[1][0]}"
        raise UserError(f"{tag} is {words}; it must be a {change[0]} version")


def version_text(api: "HfApi", repo: str, tag: str, changes: Sequence[str]) -> str:
    remote = hub.read_repo(api, repo, "dataset")
    published = ""
    if "README.md" in remote.files:
        with hub.hub_errors_explained(repo):
            path = Path(api.hf_hub_download(repo, "README.md", repo_type="dataset", revision=remote.head))
        published = card.search_card(path.parent, card.VERSIONS) or ""
    if published.startswith(f"### {tag} "):
        return published
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    words = "\n".join(f"- {escape(word)}" for word in changes)
    return f"### {tag} ({today})\n\n{words}" + (f"\n\n{published}" if published.startswith("### ") else "")
