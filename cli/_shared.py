"""Options that several verbs share."""

import importlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import click

Verb = TypeVar("Verb", bound=Callable[..., object])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a machine.")
dataset_option = click.option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=Path("convergebench"),
    show_default=True,
    help="The dataset's folder.",
)
column_option = click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="What the table calls one of our columns; repeatable.",
)


def apply_options(verb: Verb, options: Sequence[Callable[[Verb], Verb]]) -> Verb:
    for option in reversed(options):
        verb = option(verb)
    return verb


def split_names(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def parse_columns(pairs: Sequence[str]) -> dict[str, str]:
    from convergebench.generation.records import UserError

    for pair in pairs:
        if "=" not in pair:
            raise UserError(f"--column must be OURS=THEIRS, such as path=file, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def parse_arguments(pairs: Sequence[str]) -> dict[str, object]:
    """The NAME=VALUE pairs of --executor-arg; a value that is JSON is decoded."""
    arguments: dict[str, object] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise click.BadParameter(f"must be NAME=VALUE, such as partition=cpu, got {pair!r}")
        arguments[name] = value
        with suppress(ValueError):
            arguments[name] = json.loads(value)
    return arguments


def executor_options(verb: Verb) -> Verb:
    options = (
        click.option("--shard", metavar="I/N", help="Do only part I of N, counted from 0."),
        click.option(
            "--executor",
            type=click.Choice(["local", "slurm"]),
            help="Run in parts by datatrove: on this machine or by Slurm (docs/cluster.md).",
        ),
        click.option("--tasks", type=click.IntRange(1), metavar="N", help="Number of parts. Default: one a core."),
        click.option("--logs", metavar="FOLDER", help="Folder for the tasks' logs. Default: .tasks beside the output."),
        click.option(
            "--executor-arg",
            "executor_args",
            multiple=True,
            metavar="NAME=VALUE",
            callback=lambda context, option, pairs: parse_arguments(pairs),
            help="An argument of datatrove's executor, such as partition=cpu; repeatable.",
        ),
    )  # fmt: skip
    return apply_options(verb, options)


def _names_beginning_with(word: str, room: str) -> list[str]:
    names = importlib.import_module(f"convergebench.generation.{room}").names()
    return [name for name in names if name.startswith(word)]


def plan_options(verb: Verb) -> Verb:
    options = (
        click.option(
            "--suite",
            default="demo",
            show_default=True,
            help="A suite of `convergebench list suites`, or your own ./FILE.toml.",
            shell_complete=lambda context, option, word: _names_beginning_with(word, "suites"),
        ),
        click.option(
            "--editor",
            "specs",
            multiple=True,
            help="NAME, NAME:option=value,... or your own ./FILE.py:FUNCTION; repeatable. Default: the suite's.",
            shell_complete=lambda context, option, word: _names_beginning_with(word, "editors"),
        ),
        click.option("--pictures", type=click.Path(), help="A folder of your own, instead of the suite's."),
        click.option("--pictures-kind", "kind", help="face, object, scene, texture or text."),
        click.option("--rounds", type=int, help="Rounds per chain, instead of the suite's."),
        click.option("--runs", type=int, help="Runs per case, instead of the suite's."),
        click.option("--program", "programs", multiple=True, help="Only this program; repeatable."),
        click.option("--category", "categories", multiple=True, help="Only programs of this category; repeatable."),
        click.option("--kind", "kinds", multiple=True, help="Only pictures of this kind; repeatable."),
        click.option("--source", "sources", multiple=True, help="Only this picture; repeatable."),
        click.option("--limit", type=int, help="At most N cases, balanced, the same for every editor."),
        click.option(
            "--audit/--no-audit",
            default=True,
            help="Disturb a fifth of the chains, to find editors that remember. Default: audit.",
        ),
        click.option(
            "--salt-file",
            metavar="FILE",
            help="Random bytes that choose the audited chains; keep them secret until the results are out. "
            "Default: $CONVERGEBENCH_SALT_FILE.",
        ),
    )  # fmt: skip
    return apply_options(verb, options)
