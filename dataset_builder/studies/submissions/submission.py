"""A submission: a scored dataset of one run, with a file that names its chains, files and versions by their hashes.

    submission.json            what is submitted; nobody has to believe it, see `submission_checks`
    README.md, data/...        the dataset: every step with its picture as received, chains, sources, scores, floors

It lies in the Hub's dataset under submissions/NAME, put there by a pull request and withdrawn by another.
"""

import hashlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.files import refuse_strangers_file, write_whole
from convergebench.generation.records import FinishedChain, Step, UserError, canonical

from ...building import card
from ...building.card_tables import editor_folders
from ...dataset.manifest import MANIFEST
from ...dataset.reader import Reader
from ...dataset.schema import hash_file
from ...publishing import hub

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FILE = "submission.json"
FORMAT = 1
FOLDER = "submissions"  # in the repository
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
# What shapes bytes or numbers.
LIBRARIES = ("convergebench", "numpy", "opencv-python-headless", "pillow", "scikit-image", "scipy", "torch")


def describe(folder: Path) -> dict[str, Any]:
    """What a scored dataset would submit."""
    reader = Reader(folder)
    if not reader.files("scores"):
        raise UserError(f"{folder} has no scores; `convergebench score` computes them")
    chains = sorted(reader.chains(), key=lambda chain: chain.order)
    digests = _chain_digests(reader)
    return {
        "format": FORMAT,
        "name": name_of(chains, digests),
        "suites": [list(each) for each in sorted({(chain.suite, chain.suite_version) for chain in chains})],
        "editors": sorted({chain.editor for chain in chains}),
        "salts": sorted({str(chain.chain.settings["salt"]) for chain in chains if "salt" in chain.chain.settings}),
        "chains": {chain.id: digests[chain.id] for chain in chains},
        "files": {file: hash_file(folder / file) for file in data_files(reader)},
        "signatures": _signatures_of(reader),
        "versions": {"python": platform.python_version()} | _library_versions(),
    }


def write(folder: Path) -> dict[str, Any]:
    """Make a submission of a scored dataset; what it says."""
    refuse_strangers_file(folder / FILE, is_submission)
    about = describe(folder)
    write_whole(folder / FILE, (json.dumps(about, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())
    return about


def is_submission(data: bytes) -> bool:
    """Whether a file is one that `write` wrote, be it of another version."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"format", "name", "chains", "files"} <= found.keys()


def read(folder: Path) -> dict[str, Any]:
    """What a submission says of itself."""
    try:
        about = json.loads((folder / FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{folder} is no submission: there is no {FILE}; `convergebench submit` makes one") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{folder / FILE} is no JSON ({error}); submit again") from error
    parts = {"name": str, "chains": dict, "files": dict, "signatures": list}
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise UserError(f"{folder / FILE} is not of format {FORMAT}; submit again with this version")
    if wrong := [name for name, kind in parts.items() if not isinstance(about.get(name), kind)]:
        raise UserError(f"{folder / FILE} has no {wrong[0]}; submit again")
    return about


def name_of(chains: Sequence[FinishedChain], digests: Mapping[str, str]) -> str:
    """A name that says whose it is and changes with every byte of the chains."""
    folders = sorted(editor_folders({chain.editor for chain in chains}).values())
    first = folders[0] if len(folders) == 1 else f"{folders[0]}-and-{len(folders) - 1}"
    whole = hashlib.sha256(canonical(sorted(digests.items())).encode()).hexdigest()
    return f"{first[:40]}-{chains[0].suite or 'none'}-{whole[:8]}"


def _chain_digests(reader: Reader) -> dict[str, str]:
    """The hash of each chain with all its steps, by its id."""
    steps: dict[str, list[Step]] = {}
    for placed in reader.all_steps():
        steps.setdefault(placed.chain, []).append(placed.step)
    return {chain.id: chain_digest(chain, steps.get(chain.id, [])) for chain in reader.chains()}


def chain_digest(chain: FinishedChain, steps: Sequence[Step]) -> str:
    """One hash of what was asked and of what came back, in its order; pictures stand in it by their own hashes."""
    about = {"suite": chain.suite, "suite_version": chain.suite_version, "status": chain.status}
    parts = [chain.chain.to_dict(), about, *(step.to_dict() for step in steps)]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def data_files(reader: Reader) -> list[str]:
    return [file for config in reader.configs() for file in reader.files(config)]


def _signatures_of(reader: Reader) -> list[Any]:
    """Every different signature of the scores."""
    found = sorted(set(reader.table("scores", ["signature"])["signature"].to_pylist()))
    return [json.loads(each) for each in found]


def _library_versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def files_to_propose(folder: Path) -> dict[str, Path]:
    """Every file of a submission by its path in the repository."""
    about = read(folder)
    there = [FILE, MANIFEST, *card.OWN_TEXTS, *about["files"]]
    return {f"{FOLDER}/{about['name']}/{name}": folder / name for name in there if (folder / name).exists()}


def propose(api: "HfApi", folder: Path, repo: str) -> str:
    """Open a pull request that adds the submission to the dataset's repository; its address."""
    from huggingface_hub import CommitOperationAdd

    about = read(folder)
    words = f"{len(about['chains'])} chains of {', '.join(about['editors'])}, to be checked by `verify`."
    with hub.hub_errors_explained(repo):
        made = api.create_commit(
            repo,
            [CommitOperationAdd(path, file) for path, file in sorted(files_to_propose(folder).items())],
            repo_type="dataset",
            commit_message=f"Submit {about['name']}",
            commit_description=words,
            create_pr=True,
        )
    return str(made.pr_url)


def withdraw(api: "HfApi", name: str, repo: str, reason: str) -> str:
    """Open a pull request that takes a submission out again; its address. History keeps what was there."""
    from huggingface_hub import CommitOperationDelete

    with hub.hub_errors_explained(repo):
        made = api.create_commit(
            repo,
            [CommitOperationDelete(f"{FOLDER}/{name}/", is_folder=True)],
            repo_type="dataset",
            commit_message=f"Withdraw {name}",
            commit_description=reason,
            create_pr=True,
        )
    return str(made.pr_url)


def proposed_files(api: "HfApi", name: str, repo: str, revision: str | None = None) -> list[str]:
    """The files that a submission has in the repository; an error names those that are there."""
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r} is no name of a submission")
    remote = hub.read_repo(api, repo, "dataset", revision)
    if remote.head is None:
        raise UserError(f"there is no dataset {repo} on the Hub, or the token may not see it")
    found = sorted(path for path in remote.files if path.startswith(f"{FOLDER}/{name}/"))
    if not found:
        names = sorted({path.split("/")[1] for path in remote.files if path.startswith(f"{FOLDER}/")})
        raise UserError(f"{repo} has no submission {name!r}; it has {', '.join(names) or 'none'}")
    return found


def fetch(api: "HfApi", name: str, repo: str, revision: str | None = None) -> Path:
    """A submission that lies in a repository, or in a pull request to it, as a folder here."""
    from huggingface_hub import snapshot_download

    proposed_files(api, name, repo, revision)
    with hub.hub_errors_explained(repo):
        folder = snapshot_download(
            repo,
            repo_type="dataset",
            revision=revision,
            allow_patterns=f"{FOLDER}/{name}/**",
            endpoint=api.endpoint,
            token=api.token,
        )
    return Path(folder) / FOLDER / name
