"""Every command and code block that a page or --help shows."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from convergebench.cli.__main__ import Verbs, VerbWithKinds, main

HOUSE = Path(__file__).parents[1]
CARD = "dataset_card.md"  # of the dataset
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    CARD,
    "spaces_app/README.md",
    *sorted(path.relative_to(HOUSE).as_posix() for path in HOUSE.glob("docs/*.md")),
]
# The first words of commands that stand among other text: output, YAML, --help.
PROGRAMS = ("convergebench", "accelerate", "inspect", "make", "pip", "python")


class Block(NamedTuple):
    page: str
    language: str
    code: str


def blocks(page: str, text: str | None = None) -> list[Block]:
    text = (HOUSE / page).read_text() if text is None else text
    return [Block(page, *found) for found in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def commands(page: str) -> Iterator[list[str]]:
    """The words of each command of a page; a block `sh` holds nothing else."""
    for block in blocks(page):
        yield from _commands(block.code, all_lines=block.language == "sh")


def _commands(text: str, all_lines: bool = False) -> Iterator[list[str]]:
    for line in re.sub(r"\\\n\s*|(?<=-m)\n\s*", " ", text).splitlines():
        line = line.strip().removeprefix("- run: ")
        ours = all_lines or line.startswith(tuple(f"{name} " for name in PROGRAMS))
        if ours and (words := shlex.split(line, comments=True)):
            yield words


def commands_of_help() -> Iterator[list[str]]:
    """What the --help of the program and of groups shows; that of each verb is docs/commands.md."""
    context = click.Context(main, info_name="convergebench", terminal_width=80)
    every = [main, *(main.get_command(context, name) for name in main.list_commands(context))]
    for group in (each for each in every if isinstance(each, (VerbWithKinds, Verbs))):
        text = re.sub(r"(?<=\S)  +.*", "", group.get_help(click.Context(group, info_name="convergebench")))
        yield from _commands("\n".join(line for line in text.splitlines() if "[" not in line))
