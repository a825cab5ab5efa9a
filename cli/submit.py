"""`convergebench submit`: makes a submission of a run, and proposes it to the Hub's dataset or withdraws it."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from ._shared import json_option


@click.command("submit")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="The submission's folder. Default: submissions/ and the run's name."
)
@click.option("--metrics", help="Which metrics, separated by commas. Default: all that can be computed here.")
@click.option("--repo", metavar="NAMESPACE/NAME", help="The Hub's dataset that it is submitted to.")
@click.option("--propose", is_flag=True, help="Open the pull request; without it, only what it would hold is said.")
@click.option("--withdraw", metavar="NAME", help="Propose to take this submission out of --repo again.")
@click.option("--reason", help="With --withdraw: why.")
@json_option
def submit(
    runs: tuple[Path, ...],
    out: Path | None,
    metrics: str | None,
    repo: str | None,
    propose: bool,
    withdraw: str | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Make a submission of finished runs: built, scored, and named by the hashes of its chains.

    Nobody has to trust it: `convergebench verify-submission` checks it. The pull request is the submission, and a
    second one withdraws it. Nothing leaves this machine without --propose.

    \b
    convergebench submit runs/x
    convergebench submit runs/x --repo convergebench/convergebench --propose
    convergebench submit --withdraw NAME --reason "a wrong prompt" --repo convergebench/convergebench --propose
    """
    if propose and not repo:
        raise click.UsageError("--propose opens a pull request; say where by --repo NAMESPACE/NAME")
    if bool(runs) == bool(withdraw):
        raise click.UsageError("give the runs to submit, or --withdraw NAME")
    if withdraw:
        if not repo or not reason:
            raise click.UsageError("--withdraw needs --repo NAMESPACE/NAME and --reason")
        about = withdraw_from(repo, withdraw, reason, propose, quiet=as_json)
    else:
        out = out or Path("submissions") / "-".join(run.name for run in runs)
        about = make(runs, out, metrics, quiet=as_json)
        if repo:
            about |= propose_to(repo, out, propose, quiet=as_json)
    if as_json:
        click.echo(json.dumps(about))


def make(runs: tuple[Path, ...], out: Path, metrics: str | None, quiet: bool) -> dict[str, Any]:
    """Build, score and describe; the checks of verify-submission that need no sample run too."""
    from convergebench import metric_modules
    from convergebench.dataset_builder.building import build
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.studies.submissions import submission, submission_checks
    from convergebench.generation.audits import read_salt
    from convergebench.generation.files import refuse_strangers_file
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.records import UserError
    from convergebench.generation.store_reader import find_finished
    from convergebench.generation.studies.submissions import suite_cases

    refuse_strangers_file(out / submission.FILE, submission.is_submission)  # before work that takes its time
    found = find_finished(runs)
    with progress_bar("build", found.steps, "steps", quiet) as advance:
        build.build(found, out, lambda: advance(1, ""))
    names = [name.strip() for name in metrics.split(",") if name.strip()] if metrics is not None else None
    outcome = metric_modules.score(out, names, quiet=quiet)
    absent = outcome.absent if outcome else {}
    about = submission.write(out)
    wrong = suite_cases.departures(Reader(out).chains(), read_salt()) or submission_checks.check(out)
    if wrong:
        raise UserError(f"this would not be accepted: {wrong[0]}")
    counts = {"chains": len(about["chains"]), "files": len(about["files"])}
    if not quiet:
        click.echo(f"{out}: submission {about['name']}, {counts['chains']} chains in {counts['files']} files")
        for name, why in absent.items():
            click.echo(f"left out: {name}, because {why}", err=True)
    return {"folder": str(out), "name": about["name"], "left_out": absent} | counts


def propose_to(repo: str, folder: Path, propose: bool, quiet: bool) -> dict[str, Any]:
    """Open the pull request, or say what it would hold."""
    from convergebench.dataset_builder.building.card_tables import count_text, size_text
    from convergebench.dataset_builder.publishing import checks
    from convergebench.dataset_builder.studies.submissions import submission

    checks.check(folder)
    files = submission.files_to_propose(folder)
    size = sum(path.stat().st_size for path in files.values())
    opened = submission.propose(client(quiet), folder, repo) if propose else None
    if not quiet:
        told = opened_words(opened)
        click.echo(f"{repo}: {told}, with {count_text(len(files), 'file')} ({size_text(size)})")
    return {"repo": repo, "paths": sorted(files), "proposed": opened}


def withdraw_from(repo: str, name: str, reason: str, propose: bool, quiet: bool) -> dict[str, Any]:
    from convergebench.dataset_builder.building.card_tables import count_text
    from convergebench.dataset_builder.studies.submissions import submission

    api = client(quiet)
    files = submission.proposed_files(api, name, repo)
    opened = submission.withdraw(api, name, repo, reason) if propose else None
    if not quiet:
        told = opened_words(opened)
        click.echo(f"{repo}: {told}, which takes out {count_text(len(files), 'file')} of {name}")
    return {"repo": repo, "name": name, "paths": files, "proposed": opened}


def opened_words(opened: str | None) -> str:
    return f"a pull request is open at {opened}" if opened else "--propose would open a pull request"


def client(quiet: bool) -> Any:
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars

    if quiet or not sys.stderr.isatty():
        disable_progress_bars()
    return HfApi(library_name="convergebench")
