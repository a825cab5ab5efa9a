"""Options that several verbs share."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import click
from convergebench.generation.records import Values

Row = TypeVar("Row", bound=Values)
Verb = TypeVar("Verb", bound=Callable[..., object])


def _parse_pairs(context: object, option: object, pairs: Sequence[str]) -> dict[str, str]:
    """The pairs of a repeatable option NAME=VALUE."""
    for pair in pairs:
        if "=" not in pair:
            raise click.BadParameter(f"must be NAME=VALUE, such as partition=cpu, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def _parse_arguments(context: object, option: object, pairs: Sequence[str]) -> dict[str, object]:
    """As `_parse_pairs`; a value that is JSON is decoded."""
    arguments: dict[str, object] = {**_parse_pairs(context, option, pairs)}
    for name, value in arguments.items():
        with suppress(ValueError):
            arguments[name] = json.loads(str(value))
    return arguments


def option_group(*options: Callable[[Verb], Verb]) -> Callable[[Verb], Verb]:
    """Several options as one decorator."""

    def decorate(verb: Verb) -> Verb:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return decorate


def split_names(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def print_rows(rows: Sequence[Row], as_json: bool, text_of: Callable[[Row], str]) -> None:
    click.echo(json.dumps(rows) if as_json else "\n".join(map(text_of, rows)))


def options_text(row: Values) -> str:
    return ",".join(f"{key}={value}" for key, value in row["options"].items()) or "none"


def _take_scene_seed(context: click.Context, option: object, seed: int | None) -> None:
    if seed is not None:
        context.params["suite"] += f"-seed{seed}"


PATH = click.Path(path_type=Path)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a machine.")
dataset_option = click.option(
    "--dataset", type=PATH, default="convergebench", show_default=True, help="The dataset's folder."
)
column_option = click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    callback=_parse_pairs,
    help="What the table calls one of our columns; repeatable.",
)
executor_options = option_group(
    click.option("--shard", metavar="I/N", help="Do only part I of N, counted from 0."),
    click.option(
        "--executor",
        type=click.Choice(["local", "slurm"]),
        help="Run in parts by datatrove: on this machine or by Slurm (docs/cluster.md).",
    ),
    click.option("--tasks", type=click.IntRange(1), metavar="N", help="Number of parts. Default: one a core."),
    click.option(
        "--logs", metavar="FOLDER", help="Folder for the tasks' logs. Default: .tasks beside the output."
    ),
    click.option(
        "--executor-arg",
        "executor_args",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_parse_arguments,
        help="An argument of datatrove's executor, such as partition=cpu; repeatable.",
    ),
)
plan_options = option_group(
    click.option(
        "--suite",
        default="demo",
        show_default=True,
        is_eager=True,  # --scene-seed adds to it
        help="A suite of `convergebench list suites`, or your own ./FILE.toml.",
    ),
    click.option(
        "--editor",
        "specs",
        multiple=True,
        help="NAME, NAME:option=value,... or your own ./FILE.py:FUNCTION; repeatable. Default: the suite's.",
    ),
    click.option(
        "--scene-seed",
        type=click.IntRange(0),
        expose_value=False,
        callback=_take_scene_seed,
        help="Of a suite of drawn scenes, such as exact: draw others, which no model has seen.",
    ),
    click.option(
        "--policy",
        "policies",
        multiple=True,
        help="NAME[:option=value,...] of `convergebench list policies`, stacked with +, or none; repeatable.",
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
)
