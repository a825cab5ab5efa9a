"""A submission: a scored dataset of one run, with the hashes of its chains and files.

    submission.json        suites, editors, salts, versions, signatures; hashes of all files and chains
    README.md, data/...    the dataset

On the Hub it is in the dataset's folder submissions/NAME; a pull request adds it.
"""

import hashlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from convergebench.generation import records
from convergebench.generation.files import disk_errors_explained, locked, refuse_strangers_file, write_whole
from convergebench.generation.pictures import decode, fit_to
from convergebench.generation.records import GOES_ON, PICTURED, FinishedChain, Step, UserError, canonical
from convergebench.generation.store import ChainWriter, keep_source, open_run, read_checked

from ...building import card
from ...building.card import editor_folders
from ...dataset.columns import Values
from ...dataset.reader import Reader
from ...dataset.rows import SourceRow
from ...dataset.schema import hash_file
from ...publishing import hub
from ...publishing.verify import check_text, known_secrets, verify_dataset

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FILE = "submission.json"
_FORMAT = 1
_FOLDER = "submissions"  # in the repository
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
# Libraries that affect bytes or numbers.
_LIBRARIES = ("convergebench", "numpy", "opencv-python-headless", "pillow", "scikit-image", "scipy", "torch")
_INPUT_ERROR = 1.0  # mean difference in grey levels; versions of a library resize differently
_REQUIRED = ("psnr", "ssim", "edit_applied", "honesty")  # a rank needs them

SELF_REPORTED = "self-reported: without a challenge, whoever submits drew the audits"

Description = dict[str, Any]


def write(folder: Path, facts: Mapping[str, Any] | None = None) -> Description:
    """Turn a scored dataset into a submission; returns its description. `facts` are of its runs."""
    refuse_strangers_file(folder / FILE, is_submission)
    reader = Reader(folder)
    if not reader.files("scores"):
        raise UserError(f"{folder} has no scores; `convergebench score` computes them")
    chains = sorted(reader.chains(), key=lambda chain: chain.order)
    digests = _chain_digests(reader)
    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[library] = importlib.metadata.version(library)
    signatures = sorted(set(reader.table("scores", ["signature"])["signature"].to_pylist()))
    description = {
        "format": _FORMAT,
        "name": _name_of(chains, digests),
        "suites": [list(suite) for suite in sorted({(chain.suite, chain.suite_version) for chain in chains})],
        "editors": sorted({chain.editor for chain in chains}),
        "salts": sorted(
            {str(chain.chain.settings["salt"]) for chain in chains if "salt" in chain.chain.settings}
        ),
        **(facts or {}),
        "chains": digests,
        "files": {file: hash_file(folder / file) for file in reader.data_files()},
        "signatures": [json.loads(signature) for signature in signatures],
        "versions": versions,
    }
    data = json.dumps(description, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_whole(folder / FILE, data.encode())
    return description


def facts_of_runs(runs: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """How each editor that is a user's function was isolated, and the retries of each chain."""
    logs = [log for run in runs for log in sorted(run.glob("chains/*/.retried.jsonl"))]
    return {
        "isolation": {
            label: isolation
            for run in runs
            for label, isolation in read_checked(run / "run.json").get("isolation", {}).items()
        },
        "retried": {log.parent.name: [json.loads(line) for line in log.read_text().splitlines()] for log in logs},
    }


def retried(folder: Path) -> int:
    """How many steps were retried after a refusal or a failure."""
    return sum(map(len, read(folder).get("retried", {}).values()))


def check_challenge(folder: Path, salt: bytes) -> tuple[str, list[str]]:
    """Which challenge a submission answers, if any, and what contradicts that."""
    challenge = records.json_object(salt) or {}
    if "challenge" not in challenge:
        return SELF_REPORTED, []
    description = read(folder)
    submitted = {"editor": description["editors"], "suite": [name for name, _ in description["suites"]]}
    wrong = [
        f"its {what}s are {', '.join(given)}, but the challenge is for {challenge[what]}"
        for what, given in submitted.items()
        if given != [challenge[what]]
    ]
    return f"answers challenge {challenge['challenge']}", wrong


def is_submission(data: bytes) -> bool:
    values = records.json_object(data) or {}
    kinds = {"name": str, "chains": dict, "files": dict, "signatures": list}
    return values.get("format") == _FORMAT and all(isinstance(values.get(k), kind) for k, kind in kinds.items())


def read(folder: Path) -> Description:
    path = folder / FILE
    if not path.is_file():
        raise UserError(f"{folder} is not a submission: it has no {FILE}; `convergebench submit` makes one")
    data = path.read_bytes()
    if not is_submission(data):
        raise UserError(f"{path} is not a description of format {_FORMAT}; submit again with this version")
    description: Description = json.loads(data)
    return description


def _name_of(chains: Sequence[FinishedChain], digests: dict[str, str]) -> str:
    folders = sorted(editor_folders({chain.editor for chain in chains}).values())
    name = folders[0] if len(folders) == 1 else f"{folders[0]}-and-{len(folders) - 1}"
    digest = hashlib.sha256(canonical(sorted(digests.items())).encode()).hexdigest()
    return f"{name[:40]}-{chains[0].suite or 'none'}-{digest[:8]}"


def _steps_by_chain(reader: Reader) -> dict[str, list[Step]]:
    steps: dict[str, list[Step]] = {chain.id: [] for chain in reader.chains()}
    for placed in reader.all_steps():
        steps[placed.chain].append(placed.step)
    return steps


def _chain_digests(reader: Reader) -> dict[str, str]:
    steps = _steps_by_chain(reader)
    digests = {}
    for chain in reader.chains():
        end = {"suite": chain.suite, "suite_version": chain.suite_version, "status": chain.status}
        parts = [chain.chain.to_dict(), end, *(step.to_dict() for step in steps[chain.id])]
        digests[chain.id] = hashlib.sha256(canonical(parts).encode()).hexdigest()
    return digests


def check(folder: Path) -> list[str]:
    """A sentence for each failure of the first check that fails."""
    description, reader = read(folder), Reader(folder)
    for find in (_check_files, _check_dataset, _check_chains, _check_inputs, _check_scores):
        if sentences := list(find(reader, description)):
            return sentences
    return []


def _check_files(reader: Reader, description: Description) -> Iterator[str]:
    present = reader.data_files()
    files = description["files"]
    for file in sorted(files.keys() - {*present}):
        yield f"{file} was submitted and is missing"
    for file in present:
        if file not in files:
            yield f"{file} is not among the files that were submitted"
        elif hash_file(reader.folder / file) != files[file]:
            yield f"{file} is not the file that was submitted: its sha256 differs"
    check_text(FILE, (reader.folder / FILE).read_text(encoding="utf-8"), known_secrets())


def _check_dataset(reader: Reader, _: Description) -> Iterator[str]:
    yield from (f"{finding.path}: {finding.what}" for finding in verify_dataset(reader.folder))


def _check_chains(reader: Reader, description: Description) -> Iterator[str]:
    steps = _steps_by_chain(reader)
    for chain in reader.chains():
        if chain.id != chain.chain.id:
            yield f"chain {chain.id} does not match its id: its instructions, settings or picture were changed"
        else:
            yield from _check_order(chain, steps[chain.id])
    digests = _chain_digests(reader)
    submitted = description["chains"]
    for id in sorted(submitted.keys() | digests.keys()):
        if submitted.get(id) != digests.get(id):
            what = "is not the one" if id in digests and id in submitted else "is not among those"
            yield f"chain {id} {what} that was submitted: its hash differs"


def _check_order(chain: FinishedChain, steps: list[Step]) -> Iterator[str]:
    if "content" in chain.chain.settings:
        yield f"chain {chain.id} was imported, so how it was made cannot be checked"
        return
    expected = [(0, 0, 0, "", None), *((*ask, chain.chain.seed(ask[0])) for ask in chain.chain.asks())]
    for number, (step, ask) in enumerate(zip(steps, expected, strict=False)):
        where = f"chain {chain.id}, step {number}:"
        if (step.step, step.round, step.position, step.instruction) != ask[:4]:
            yield f"{where} step {step.step} of round {step.round} is in its place"
        elif number and step.seed != ask[4]:
            seeded_step = next((ask[0] for ask in expected[1:] if ask[4] == step.seed), None)
            owner = f"that of step {seeded_step}" if seeded_step else "not this chain's"
            yield f"{where} its seed is {owner}, so it was not made in this place"
        elif number and steps[number - 1].status not in GOES_ON:
            yield f"{where} the chain had ended"
        elif (step.status in PICTURED) != (step.sha256 is not None):
            yield f"{where} its status {step.status} contradicts its picture"
        else:
            continue
        return
    last = steps[-1].status if steps else "missing"
    ended = "complete" if last in ("input", "ok") else last
    if len(steps) > len(expected) or (last == "ok" and len(steps) < len(expected)) or ended != chain.status:
        yield f"chain {chain.id} is {chain.status}, but has {len(steps) - 1} of {len(expected) - 1} steps"


def _check_inputs(reader: Reader, _: Description) -> Iterator[str]:
    places = dict(zip((row.source for row in reader.rows_of(SourceRow)), reader.places("sources"), strict=True))
    source_of = {chain.id: chain.source.id for chain in reader.chains()}
    seen: set[tuple[str, str | None]] = set()
    for placed in reader.all_steps():
        source = source_of[placed.chain]
        if placed.step.step or (source, placed.step.sha256) in seen:
            continue
        seen.add((source, placed.step.sha256))
        original, first = (decode(reader.picture_at(place) or b"") for place in (places[source], placed.place))
        prepared = np.asarray(fit_to(original, first.size), np.int16)
        if float(np.abs(prepared - np.asarray(first, np.int16)).mean()) > _INPUT_ERROR:
            yield f"chain {placed.chain} does not begin with its source {source}: its first picture is another"
            return


def _check_scores(reader: Reader, description: Description) -> Iterator[str]:
    for label, isolation in description.get("isolation", {}).items():
        if isolation == "none":
            yield f"{label} ran in the benchmark's own process; give it as ./mine.py:edit"
            return
    columns = ["chain", "step", "sha256", "status", "signature"]
    scored = {(row["chain"], row["step"]): row for row in reader.rows("scores", columns)}
    for placed in reader.all_steps():
        if not placed.step.step:
            continue
        row = scored.pop((placed.chain, placed.step.step), None)
        if wrong := _wrong_score(row, placed.step, description["signatures"]):
            yield f"chain {placed.chain}, step {placed.step.step}, {wrong}"
            return
    if scored:
        yield f"{len(scored)} rows of scores belong to no step"


def _wrong_score(row: Values | None, step: Step, signatures: Sequence[object]) -> str:
    """What is wrong with a step's row of scores; empty if nothing is."""
    if row is None:
        return "has no row of scores"
    if (row["sha256"], row["status"]) != (step.sha256, step.status):
        return "has scores of another picture or status"
    signature = json.loads(row["signature"])
    if signature not in signatures:
        return "was scored under a signature that the submission does not name"
    absent = [name for name in _REQUIRED if name not in signature]
    if not absent or step.status != "ok":
        return ""
    return f"was scored without {', '.join(absent)}; `convergebench score` computes what is missing"


def files_to_propose(folder: Path) -> dict[str, Path]:
    description = read(folder)
    names = [FILE, card.CARD, *description["files"]]
    return {
        f"{_FOLDER}/{description['name']}/{name}": folder / name for name in names if (folder / name).exists()
    }


def propose(api: "HfApi", folder: Path, repo: str) -> str:
    description = read(folder)
    chains = f"{len(description['chains'])} chains of {', '.join(description['editors'])}"
    summary = f"{chains}, to be checked by `convergebench verify`."
    return hub.propose(api, repo, files_to_propose(folder), f"Submit {description['name']}", summary)


def fetch(api: "HfApi", name: str, repo: str, revision: str | None = None) -> Path:
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is not the name of a submission")
    remote = hub.read_repo(api, repo, "dataset", revision)
    if remote.head is None:
        raise UserError(f"no dataset {repo} that the token may see; check --repo and `hf auth login`")
    names = {path.split("/")[1] for path in remote.files if path.startswith(f"{_FOLDER}/")}
    if name not in names:
        raise UserError(f"{repo} has no submission {name!r}; it has {', '.join(sorted(names)) or 'none'}")
    pattern = f"{_FOLDER}/{name}/**"
    with hub.hub_errors_explained(repo):
        folder = api.snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=pattern)
    return Path(folder) / _FOLDER / name


def unpack(folder: Path, run: Path, standing: str) -> int:
    """Copy a submission's chains into a run; returns how many are new. `standing` is of `check_challenge`."""
    reader = Reader(folder)
    chains = reader.chains()
    first = chains[0]  # all have the same suite
    header = {"suite": first.suite, "suite_version": first.suite_version, "short_side": first.short_side}
    standing = standing if standing == SELF_REPORTED else ""
    editors = {label: replace(info, planned=0, standing=standing) for label, info in reader.editors().items()}
    open_run(run, header, editors)
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
