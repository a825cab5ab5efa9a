"""A submission: a scored dataset of one run, with a file of the hashes of its chains and files.

    submission.json            what is submitted; `submission_checks` verifies it
    README.md, data/...        the dataset: every step with its picture as received, chains, sources, scores, floors

In the Hub's dataset it is under submissions/NAME; pull requests add it and withdraw it.
"""

import hashlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from convergebench.generation.files import disk_errors_explained, locked, refuse_strangers_file, write_whole
from convergebench.generation.records import FinishedChain, Step, UserError, canonical
from convergebench.generation.store import ChainWriter, keep_source, open_run

from ...building import card
from ...building.card_tables import editor_folders
from ...dataset.manifest import MANIFEST
from ...dataset.reader import Reader
from ...dataset.rows import SourceRow
from ...dataset.schema import hash_file
from ...publishing import hub

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

FILE = "submission.json"
_FORMAT = 1
_FOLDER = "submissions"  # in the repository
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
# Libraries that affect bytes or numbers.
_LIBRARIES = ("convergebench", "numpy", "opencv-python-headless", "pillow", "scikit-image", "scipy", "torch")


class Description(TypedDict):
    """The contents of submission.json."""

    format: int
    name: str
    suites: list[list[str]]
    editors: list[str]
    salts: list[str]  # hashes of the salts that drew the audits
    chains: dict[str, str]  # the hash of each chain with all its steps, by its id
    files: dict[str, str]  # the sha256 of each file
    signatures: list[Any]  # every different signature of the scores
    versions: dict[str, str]


def describe(folder: Path) -> Description:
    """The description of a scored dataset."""
    reader = Reader(folder)
    if not reader.files("scores"):
        raise UserError(f"{folder} has no scores; `convergebench score` computes them")
    chains = sorted(reader.chains(), key=lambda chain: chain.order)
    steps = steps_by_chain(reader)
    digests = {chain.id: chain_digest(chain, steps.get(chain.id, [])) for chain in chains}
    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[library] = importlib.metadata.version(library)
    signatures = sorted(set(reader.table("scores", ["signature"])["signature"].to_pylist()))
    return {
        "format": _FORMAT,
        "name": _name_of(chains, digests),
        "suites": [list(suite) for suite in sorted({(chain.suite, chain.suite_version) for chain in chains})],
        "editors": sorted({chain.editor for chain in chains}),
        "salts": sorted({str(chain.chain.settings["salt"]) for chain in chains if "salt" in chain.chain.settings}),
        "chains": digests,
        "files": {file: hash_file(folder / file) for file in reader.data_files()},
        "signatures": [json.loads(signature) for signature in signatures],
        "versions": versions,
    }


def write(folder: Path) -> Description:
    """Turn a scored dataset into a submission; returns its description."""
    refuse_strangers_file(folder / FILE, is_submission)
    description = describe(folder)
    data = json.dumps(description, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_whole(folder / FILE, data.encode())
    return description


def is_submission(data: bytes) -> bool:
    """Whether a file is one that `write` wrote."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(values, dict) and {"format", "name", "chains", "files"} <= values.keys()


def read(folder: Path) -> Description:
    """The description in a submission's folder."""
    try:
        description: Description = json.loads((folder / FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{folder} is not a submission: it has no {FILE}; `convergebench submit` makes one") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{folder / FILE} is not JSON ({error}); submit again") from error
    if not isinstance(description, dict) or description.get("format") != _FORMAT:
        raise UserError(f"{folder / FILE} is not of format {_FORMAT}; submit again with this version")
    for name, kind in {"name": str, "chains": dict, "files": dict, "signatures": list}.items():
        if not isinstance(description.get(name), kind):
            raise UserError(f"{folder / FILE} has no {name}; submit again")
    return description


def _name_of(chains: Sequence[FinishedChain], digests: Mapping[str, str]) -> str:
    """A name with the editor and suite, and a hash that changes with every byte of the chains."""
    folders = sorted(editor_folders({chain.editor for chain in chains}).values())
    first = folders[0] if len(folders) == 1 else f"{folders[0]}-and-{len(folders) - 1}"
    whole = hashlib.sha256(canonical(sorted(digests.items())).encode()).hexdigest()
    return f"{first[:40]}-{chains[0].suite or 'none'}-{whole[:8]}"


def steps_by_chain(reader: Reader) -> dict[str, list[Step]]:
    """All steps in order, by the id of their chain."""
    steps: dict[str, list[Step]] = {}
    for placed in reader.all_steps():
        steps.setdefault(placed.chain, []).append(placed.step)
    return steps


def chain_digest(chain: FinishedChain, steps: Sequence[Step]) -> str:
    """One hash of a chain with all its steps, which hold the hashes of their pictures."""
    end = {"suite": chain.suite, "suite_version": chain.suite_version, "status": chain.status}
    parts = [chain.chain.to_dict(), end, *(step.to_dict() for step in steps)]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def files_to_propose(folder: Path) -> dict[str, Path]:
    """Every file of a submission by its path in the repository."""
    description = read(folder)
    names = [FILE, MANIFEST, card.CARD, *description["files"]]
    return {f"{_FOLDER}/{description['name']}/{name}": folder / name for name in names if (folder / name).exists()}


def propose(api: "HfApi", folder: Path, repo: str) -> str:
    """Open a pull request that adds the submission to the dataset's repository; returns its address."""
    from huggingface_hub import CommitOperationAdd

    description = read(folder)
    chains, editors = len(description["chains"]), ", ".join(description["editors"])
    additions = [CommitOperationAdd(path, file) for path, file in sorted(files_to_propose(folder).items())]
    message = f"{chains} chains of {editors}, to be checked by `convergebench verify`."
    return _pull_request(api, repo, additions, f"Submit {description['name']}", message)


def withdraw(api: "HfApi", name: str, repo: str, reason: str) -> str:
    """Open a pull request that removes a submission; returns its address. The history keeps the files."""
    from huggingface_hub import CommitOperationDelete

    deletion = CommitOperationDelete(f"{_FOLDER}/{name}/", is_folder=True)
    return _pull_request(api, repo, [deletion], f"Withdraw {name}", reason)


def _pull_request(
    api: "HfApi",
    repo: str,
    operations: "Sequence[CommitOperationAdd | CommitOperationDelete]",
    message: str,
    description: str,
) -> str:
    with hub.hub_errors_explained(repo):
        request = api.create_commit(
            repo,
            operations,
            repo_type="dataset",
            commit_message=message,
            commit_description=description,
            create_pr=True,
        )
    return str(request.pr_url)


def proposed_files(api: "HfApi", name: str, repo: str, revision: str | None = None) -> list[str]:
    """The files of a submission in the repository; raises if it has none."""
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is not the name of a submission")
    remote = hub.read_repo(api, repo, "dataset", revision)
    if remote.head is None:
        raise UserError(f"no dataset {repo} on the Hub, or the token may not see it; check --repo and `hf auth login`")
    files = sorted(path for path in remote.files if path.startswith(f"{_FOLDER}/{name}/"))
    if not files:
        names = sorted({path.split("/")[1] for path in remote.files if path.startswith(f"{_FOLDER}/")})
        raise UserError(f"{repo} has no submission {name!r}; it has {', '.join(names) or 'none'}")
    return files


def fetch(api: "HfApi", name: str, repo: str, revision: str | None = None) -> Path:
    """Download a submission from a repository or a pull request; returns its folder."""
    from huggingface_hub import snapshot_download

    proposed_files(api, name, repo, revision)
    with hub.hub_errors_explained(repo):
        folder = snapshot_download(
            repo,
            repo_type="dataset",
            revision=revision,
            allow_patterns=f"{_FOLDER}/{name}/**",
            endpoint=api.endpoint,
            token=api.token,
        )
    return Path(folder) / _FOLDER / name


def unpack(folder: Path, run: Path) -> int:
    """Store every chain of a submission in a run, byte for byte; returns how many are new.

    `convergebench build` can then combine it with other runs.
    """
    reader = Reader(folder)
    chains = reader.chains()
    suites = {(chain.suite, chain.suite_version, chain.short_side) for chain in chains}
    if len(suites) != 1:
        raise UserError(f"{folder} holds chains of {len(suites)} suites; a run is of one")
    [(suite, version, short_side)] = suites
    open_run(run, {"suite": suite, "suite_version": version, "short_side": short_side}, reader.editors())
    for row in reader.rows_of(SourceRow, ["sha256", "image"]):
        keep_source(run, row.sha256, row.image["bytes"])
    new = 0
    with disk_errors_explained(run), locked(run):
        for chain in chains:
            with ChainWriter.draft(run) as writer:
                if (reference := reader.reference(chain.id)) is not None:
                    write_whole(writer.folder / "reference.png", reference)
                for step in reader.steps_of(chain):
                    size = (step.width, step.height) if step.width and step.height else None
                    writer.append(step, reader.picture(chain.id, step.step) or b"", size)
                new += writer.finish_draft(chain.chain)
    return new
