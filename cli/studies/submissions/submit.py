import json
from pathlib import Path
from typing import Any

import click

from ..._shared import PATH, json_option, split_names
from ...share._hub import hub_client

SECTION = "share"


@click.command("submit", short_help="Make a submission of runs and propose it.")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--out", type=PATH, help="The submission's folder. Default: submissions/RUN.")
@click.option("--metrics", help="Which metrics, separated by commas. Default: all that can be computed here.")
@click.option("--repo", metavar="NAMESPACE/NAME", help="The dataset on the Hub.")
@click.option("--propose", is_flag=True, help="Open the pull request; otherwise only say what it would contain.")
@json_option
def command(
    runs: tuple[Path, ...], out: Path | None, metrics: str | None, repo: str | None, propose: bool, as_json: bool
) -> None:
    """Make a submission of finished runs: built, scored, and named by the hashes of its chains.

    Nobody has to trust it: `convergebench verify` checks it. The pull
    request is the submission. Nothing leaves this machine without --propose.

    \b
    convergebench submit runs/x
    convergebench submit runs/x --repo convergebench/convergebench --propose
    """
    if propose and not repo:
        raise click.UsageError("--propose opens a pull request; say where by --repo NAMESPACE/NAME")
    out = out or Path("submissions") / "-".join(run.name for run in runs)
    values = _make(runs, out, metrics, quiet=as_json)
    if repo:
        values |= _propose(repo, out, propose, quiet=as_json)
    if as_json:
        click.echo(json.dumps(values))


def _make(runs: tuple[Path, ...], out: Path, metrics: str | None, quiet: bool) -> dict[str, Any]:
    import convergebench as cb
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.studies.submissions import submission
    from convergebench.generation.audits import read_salt
    from convergebench.generation.files import refuse_strangers_file
    from convergebench.generation.records import UserError
    from convergebench.generation.studies.submissions.suite_cases import departures

    refuse_strangers_file(out / submission.FILE, submission.is_submission)  # before the slow work
    cb.build(runs, out, quiet=quiet)
    absent = cb.score(out, split_names(metrics), quiet=quiet).absent
    values = submission.write(out, submission.facts_of_runs(runs))
    if wrong := departures(Reader(out).chains(), read_salt()) or submission.check(out):
        raise UserError(f"this would not be accepted: {wrong[0]}")
    counts = {"chains": len(values["chains"]), "files": len(values["files"])}
    if not quiet:
        click.echo(f"{out}: submission {values['name']}, {counts['chains']} chains in {counts['files']} files")
        for name, why in absent.items():
            click.echo(f"left out: {name}, because {why}", err=True)
    return {"folder": str(out), "name": values["name"], "left_out": absent} | counts


def _propose(repo: str, folder: Path, propose: bool, quiet: bool) -> dict[str, Any]:
    from convergebench.dataset_builder.building.card import count_text, size_text
    from convergebench.dataset_builder.publishing import verify
    from convergebench.dataset_builder.studies.submissions import submission

    verify.check_publishable(folder)
    files = submission.files_to_propose(folder)
    size = sum(path.stat().st_size for path in files.values())
    opened = submission.propose(hub_client(quiet), folder, repo) if propose else None
    if not quiet:
        request = f"a pull request is open at {opened}" if opened else "--propose would open a pull request"
        click.echo(f"{repo}: {request}, with {count_text(len(files), 'file')} ({size_text(size)})")
    return {"repo": repo, "paths": sorted(files), "proposed": opened}
