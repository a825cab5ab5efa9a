"""What several verbs share: the options --json, --column and those of executors."""

from collections.abc import Callable
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a machine.")


def parse_columns(pairs: tuple[str, ...]) -> dict[str, str]:
    """The pairs OURS=THEIRS of --column as a mapping."""
    from convergebench.generation.records import UserError

    for pair in pairs:
        if "=" not in pair:
            raise UserError(f"--column is {pair!r}; it is OURS=THEIRS, such as path=file")
    return dict(pair.split("=", 1) for pair in pairs)


def executor_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options that hand a verb's work to datatrove."""
    for option in (
        click.option(
            "--executor-arg",
            "executor_args",
            multiple=True,
            metavar="NAME=VALUE",
            help="An argument of datatrove's executor, such as partition=cpu or workers=4; again for each.",
        ),
        click.option(
            "--logs", metavar="FOLDER", help="Where tasks leave logs and completions. Default: .tasks beside it."
        ),
        click.option(
            "--tasks", type=click.IntRange(1), metavar="N", help="In how many parts. Default: one for each core."
        ),
        click.option(
            "--executor",
            type=click.Choice(["local", "slurm", "ray", "jobs"]),
            help="Run in parts by datatrove: on this machine, Slurm, Ray or Hub Jobs. docs/cluster.md has examples.",
        ),
    ):
        verb = option(verb)
    return verb
