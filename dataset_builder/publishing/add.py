"""Adds editors to a published dataset; no picture is downloaded and no published table is rewritten.

Each table gets one more file. Scores must be comparable, so the pictures,
suites and floors must be equal in the added and the published dataset.
"""

import math
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import UserError

from ..building import card
from ..dataset import manifest
from ..dataset.manifest import CARD
from ..dataset.reader import Reader
from ..dataset.rows import table_of
from . import hub
from .publish import next_version, version_tags, version_text
from .verify import check_publishable

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_FLOOR = ("source", "other", "short_side", "metric", "value")
_Rows = list[tuple[Any, ...]]
_TABLES = ("chains", "editors", "scores")  # get one more file each; `steps` has a folder for each editor


def add(api: "HfApi", folder: Path, repo: str, pull_request: bool = False) -> dict[str, Any]:
    """Publish a folder's editors as the next minor version; as a pull request if the token may not write."""
    ours = Reader(folder)
    check_publishable(folder)
    remote = hub.read_repo(api, repo, "dataset")
    tags = version_tags([*remote.tags])
    if not tags:
        raise UserError(f"{repo} has no published version yet; publish a dataset there first")
    address = f"hf://datasets/{repo}@{remote.head}"
    with hub.hub_errors_explained(repo):
        theirs = Reader(address, api)
        _refuse_differences(ours, theirs)
        files = _files_to_add(ours, theirs)
        editors = ", ".join(sorted(ours.editors()))
        tag = next_version(tags[-1], "minor")
        text = version_text(api, repo, tag, [f"the editors {editors} were added"])
        published = api.hf_hub_download(repo, CARD, repo_type="dataset", revision=remote.head)
        with tempfile.TemporaryDirectory() as temporary:
            draft = Path(temporary)
            for path, file in {**files, CARD: Path(published)}.items():
                (draft / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, draft / path)
            manifest.expect(draft, {path: {} for path in files})
            theirs.copied = draft  # files that are not in the draft are read from the Hub
            card.write(draft, {table_of(path) for path in files}, repo, text, theirs)
            additions = {name: draft / name for name in (*files, CARD)}
            url = _commit(api, repo, additions, str(remote.head), tag, pull_request)
    return {"tag": tag, "added": sorted(files), "pull_request": url}


def _refuse_differences(ours: Reader, theirs: Reader) -> None:
    if both := sorted({*ours.editors()} & {*theirs.editors()}):
        raise UserError(f"{both[0]} is published already; build a dataset of the new editors alone")
    pictures: list[dict[str, str]] = [
        dict(_rows(reader, "sources", "source", "sha256")) for reader in (ours, theirs)
    ]
    cases = [{*_rows(reader, "chains", "suite", "suite_version", "source")} for reader in (ours, theirs)]
    suites = {case[0] for case in cases[0]}
    if cases[0] != {case for case in cases[1] if case[0] in suites}:
        raise UserError("the runs differ in suite, version or pictures; an editor must run the published suite")
    if changed := [name for name, digest in pictures[0].items() if pictures[1].get(name) != digest]:
        raise UserError(f"source {changed[0]} is a different picture in the published dataset")
    if ours.plain_columns(ours.files("scores")[0]) != theirs.plain_columns(theirs.files("scores")[0]):
        raise UserError("the published scores have other columns; score with the same metrics and version")
    _refuse_other_floors(*(_rows(reader, "floors", *_FLOOR) for reader in (ours, theirs)))


def _refuse_other_floors(ours: _Rows, theirs: _Rows) -> None:
    published = {tuple(key): value for *key, value in theirs}
    for *key, value in ours:
        other = published.get(tuple(key))
        is_close = math.isclose(value or 0, other or 0, rel_tol=1e-3, abs_tol=1e-6)
        if (value is None) != (other is None) or not is_close:
            values = f"is {value} here and {other} in the published dataset"
            raise UserError(f"the floor of {key[3]} on {key[0]} {values}; score with the same weights")


def _rows(reader: Reader, config: str, *columns: str) -> _Rows:
    if not reader.files_present(config):
        return []
    return list(zip(*reader.table(config, columns).to_pydict().values(), strict=True))


def _files_to_add(ours: Reader, theirs: Reader) -> dict[str, Path]:
    """Our files, by the paths in the published dataset."""
    files = {file: ours.folder / file for file in ours.files("steps")}
    for config in _TABLES:
        first = len(theirs.files(config))
        for number, file in enumerate(ours.files(config)):
            files[f"data/{config}/{first + number:04d}.parquet"] = ours.folder / file
    if taken := sorted(files.keys() & {*theirs.data_files()}):
        raise UserError(f"{taken[0]} is published already; give the editor another name")
    return files


def _commit(
    api: "HfApi", repo: str, files: dict[str, Path], head: str, tag: str, pull_request: bool
) -> str | None:
    from huggingface_hub import CommitOperationAdd
    from huggingface_hub.errors import HfHubHTTPError

    message = f"{tag}: an editor was added"
    if not pull_request:
        additions = [CommitOperationAdd(path, file) for path, file in sorted(files.items())]
        options: dict[str, Any] = {"commit_message": message, "repo_type": "dataset", "parent_commit": head}
        try:
            commit = api.create_commit(repo, additions, **options).oid
            api.create_tag(repo, tag=tag, revision=commit, repo_type="dataset")
            return None
        except HfHubHTTPError as error:
            if error.response.status_code != 403:
                raise
    return hub.propose(api, repo, files, message)
