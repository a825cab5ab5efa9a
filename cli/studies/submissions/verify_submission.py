import json
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..._shared import PATH, json_option
from ...share._hub import hub_client

if TYPE_CHECKING:
    from convergebench.metric_modules.studies.submissions.recompute import Recomputed

_MOST_SHOWN = 10
_OPTIONS = {"--repo", "--revision", "--sample", "--all", "--seed", "--salt-file", "--again", "--unpack"}


def recognises(args: list[str]) -> bool:
    """Whether the arguments name a submission, or an option that only a submission has."""
    in_folder = any((Path(word) / "submission.json").is_file() for word in args)
    return in_folder or bool(_OPTIONS & {word.partition("=")[0] for word in args})


@click.command("submission", short_help="A submission, in a folder or on the Hub.")
@click.argument("submission")
@click.option("--repo", metavar="NAMESPACE/NAME", help="The dataset on the Hub that has the submission.")
@click.option("--revision", help="With --repo: a pull request, such as refs/pr/7, or another revision.")
@click.option(
    "--sample", type=click.IntRange(1), default=20, show_default=True, help="Chains that are scored again."
)
@click.option("--all", "every", is_flag=True, help="Score every chain again.")
@click.option(
    "--seed", help="Seed of the sample. Default: random and printed, so that nobody knows it beforehand."
)
@click.option("--salt-file", metavar="FILE", help="The challenge, or the salt of the audits.")
@click.option(
    "--again",
    type=click.FloatRange(0, 1),
    help="Ask the editor anew for this share of the chains; that may cost.",
)
@click.option("--unpack", metavar="RUN", type=PATH, help="Copy accepted chains into this run.")
@json_option
def command(
    submission: str,
    repo: str | None,
    revision: str | None,
    sample: int,
    every: bool,
    seed: str | None,
    salt_file: str | None,
    again: float | None,
    unpack: Path | None,
    as_json: bool,
) -> None:
    """Check files, chains, order, suite and audits of a submission, and score a sample of it again.

    Exits with status 0 only if everything holds. It cannot see whether the pictures came
    from the named editor, nor whether they were its first attempt; see docs/submissions.md.

    \b
    convergebench verify submissions/x
    convergebench verify NAME --repo NAMESPACE/convergebench --revision refs/pr/7
    """
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.studies.submissions import submission as submissions
    from convergebench.generation.audits import read_salt
    from convergebench.generation.studies.submissions.suite_cases import departures
    from convergebench.metric_modules.studies.submissions.recompute import recompute

    folder, seed = Path(submission), seed or secrets.token_hex(8)
    if repo:
        folder = submissions.fetch(hub_client(as_json), submission, repo, revision)
    salt = read_salt(salt_file)
    wrong = submissions.check(folder) or departures(Reader(folder).chains(), salt)
    standing, contradictions = submissions.check_challenge(folder, salt)
    wrong = wrong or contradictions
    scored = None if wrong else recompute(folder, seed, None if every else sample, quiet=as_json)
    wrong = scored.wrong if scored else wrong
    asked_again = 0
    if again is not None and not wrong:
        from ._again import ask_again

        asked_again, wrong = ask_again(folder, again, seed)
    retried = submissions.retried(folder)
    if as_json:
        values = {"folder": str(folder), "accepted": not wrong, "wrong": wrong, "seed": seed}
        values |= {"standing": standing, "asked_again": asked_again, "retried": retried}
        values |= {"again": vars(scored)} if scored else {}
        click.echo(json.dumps(values))
    elif scored and not wrong:
        _print_accepted(f"{folder}: accepted.", scored, seed)
        click.echo(standing)
        click.echo(f"{retried} steps were retried by the submitter")
        click.echo(f"{asked_again} chains were generated again here")
    else:
        more = f"and {len(wrong) - _MOST_SHOWN} more (--json lists them)"
        for sentence in [*wrong[:_MOST_SHOWN], more][: len(wrong)]:
            click.echo(f"refused: {sentence}", err=True)
    if wrong:
        sys.exit(1)
    if unpack:
        new = submissions.unpack(folder, unpack, standing)
        if not as_json:
            click.echo(f"{unpack}: {new} chains were copied; `convergebench build` adds them to a dataset")


def _print_accepted(verdict: str, scored: "Recomputed", seed: str) -> None:
    chains = f"{len(scored.sampled)} of {scored.chains} chains ({scored.steps} pictures)"
    floors = f"the floors of {scored.floors} pictures"
    metrics = ", ".join(scored.metrics)
    click.echo(f"{verdict} {chains} and {floors} were computed again with seed {seed}: {metrics}")
    if len(scored.sampled) < scored.chains:
        chance = f"{scored.passes_unseen(0.1):.2g}"
        click.echo(f"if a tenth of its chains were altered, it would be accepted with probability {chance}")
    for name, why in scored.left_out.items():
        click.echo(f"not computed again: {name}, because {why}", err=True)
