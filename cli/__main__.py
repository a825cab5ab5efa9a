"""The command `convergebench`: every file of this folder is a verb, and so are those of the folders in it.

The verbs of a round trip are files of this folder itself. Each other folder can be deleted.
Files that begin with an underscore are not verbs; VERB_KIND.py is one kind of a verb.
"""

import argparse
import difflib
import importlib
import importlib.metadata
import re
import sys
from functools import cache
from pathlib import Path

import click
from convergebench.generation.records import UserError

# Sections of --help. The module of a study's verb names its section: SECTION = "share".
_SECTIONS = {
    "run": ("run", "demo", "plan", "generate", "build", "score", "report", "space", "measure"),
    "bring in": ("import", "sources"),
    "ask models": (),
    "share": ("publish", "challenge", "verify"),
    "look up": ("list", "status", "weights"),
}
_WIDTH = 80


@cache
def command_modules() -> dict[str, str]:
    """The module of each command, by the command's words."""
    folder = Path(__file__).parent
    names = {}
    for path in sorted(folder.rglob("[a-z]*.py")):
        verb, _, kind = path.stem.partition("_")
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        names[f"{verb} {kind.replace('_', '-')}".strip()] = f"convergebench.cli.{module}"
    return names


def _command(name: str) -> click.Command:
    module = importlib.import_module(command_modules()[name])
    command: click.Command = module.command
    return command


def _suggestion(given: str, allowed: list[str]) -> str:
    close = difflib.get_close_matches(given, allowed, 1)
    return f"did you mean {close[0]}?" if close else f"the choices are {', '.join(allowed)}"


class VerbWithKinds(click.Group):
    """A verb with several kinds, each of them a file VERB_KIND.py.

    A word names the kind (`convergebench list editors`), or an option (`convergebench import PATH --layout
    table`). A kind whose module has a function `recognises(args)` is also chosen without being named.
    """

    def __init__(self, name: str, description: str):
        super().__init__(name, help=description, short_help=description.partition("\n")[0], no_args_is_help=True)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name.partition(" ")[2] for name in command_modules() if name.startswith(f"{self.name} ")]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _command(f"{self.name} {name}") if name in self.list_commands(ctx) else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        kinds, option = self.list_commands(ctx), "layout" if self.name == "import" else "kind"
        if option == "layout":
            parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
            parser.add_argument("--layout")
            parsed, rest = parser.parse_known_args(args)
            if parsed.layout is None and args and not {"--help", "-h"} & {*args}:
                ctx.fail(f"no --layout given; the layouts are {', '.join(kinds)}")
            args = rest if parsed.layout is None else [parsed.layout, *rest]
        if args and args[0] not in (*kinds, "--help", "-h"):
            # Studies come first, because the core's kind may accept any arguments.
            for kind in sorted(
                kinds, key=lambda kind: ".studies." not in command_modules()[f"{self.name} {kind}"]
            ):
                module = importlib.import_module(command_modules()[f"{self.name} {kind}"])
                if hasattr(module, "recognises") and module.recognises(args):
                    break
            else:
                ctx.fail(f"no {option} {args[0]!r}; {_suggestion(args[0], kinds)}")
            args = [kind, *args]
        return super().parse_args(ctx, args)


_GROUPS = {
    "list": VerbWithKinds("list", "List editors, metrics, suites, sources, prices or labels."),
    "publish": VerbWithKinds("publish", "Upload a dataset, the metrics or the Space; write results for others."),
    "challenge": VerbWithKinds("challenge", "Draw the audits that a submission must answer."),
    "sources": VerbWithKinds("sources", "Collect pictures for a suite of your own."),
    "verify": VerbWithKinds("verify", "Check every hash and count of a run, a dataset or a submission."),
    "import": VerbWithKinds(
        "import",
        "Bring in chains, published scores or labels made elsewhere.\n\n"
        "\b\nconvergebench import PATH --layout LAYOUT [options of that layout]\n"
        "convergebench import --layout table --help",
    ),
}  # fmt: skip


class Verbs(click.Group):
    """The verbs, in sections."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({name.partition(" ")[0] for name in command_modules()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in _GROUPS:
            return _GROUPS[name]
        return _command(name) if name in self.list_commands(ctx) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        listed = self.list_commands(ctx)
        commands = {name: _command(name) for name in listed if name not in _GROUPS}
        sections = {title: [name for name in names if name in listed] for title, names in _SECTIONS.items()}
        for name in commands:
            if not any(name in names for names in sections.values()):
                sections[sys.modules[command_modules()[name]].SECTION].append(name)
        for title, names in sections.items():
            with formatter.section(title.capitalize()):
                formatter.write_dl([(name, self.get_command(ctx, name).get_short_help_str(66)) for name in names])  # type: ignore[union-attr]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.list_commands(ctx):
            ctx.fail(f"no command {args[0]!r}; {_suggestion(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        if hasattr(sys.stdout, "reconfigure"):  # file names may contain bytes that are not text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except MemoryError as error:
            advice = "run the same command again with fewer --workers; finished work is kept"
            raise click.ClickException(f"out of memory; {advice}") from error
        except (UserError, OSError, ModuleNotFoundError, RuntimeError, UnicodeEncodeError) as error:
            if message := _user_message(error):
                refusal = click.ClickException(message)  # not a UsageError, which would print the usage first
                refusal.exit_code = getattr(error, "exit_code", 2)  # type: ignore[misc]  # a class variable there
                raise refusal from error
            raise


def _user_message(error: Exception) -> str | None:
    """The message for an error that the user can correct; None for a fault of the program."""
    from convergebench.bench import as_installed
    from convergebench.generation.files import CAUSES

    if isinstance(error, UserError):
        return as_installed(str(error))
    if isinstance(error, ModuleNotFoundError):
        return _install_line(error.name or "")
    if isinstance(error, OSError) and error.errno in CAUSES:
        name = str(error.filename)
        shown = name if len(name) <= 80 else f"{name[:40]}...{name[-20:]}"
        what = f"{shown!r} cannot be used" if error.filename else "a file cannot be written"
        return f"{what}: {CAUSES[error.errno]}"
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        path = str(error.object).encode("utf-8", "backslashreplace").decode()[:80]
        return f"{path!r} contains bytes that are not text; such a path cannot be used here"
    if str(error).startswith("Symlink loop"):  # Path.resolve, before Python 3.13
        return f"{error}; give another path"
    return None


def _install_line(module: str) -> str | None:
    """How to install a missing module; None if it is not one of this distribution's requirements."""
    from convergebench.bench import as_installed

    name = module.partition(".")[0]
    for requirement in importlib.metadata.requires("convergebench") or ():
        wanted, _, marker = requirement.partition(";")
        if re.match(r"[\w.-]+", wanted)[0].replace("-", "_").lower() == name:  # type: ignore[index]
            extra = re.search(r"extra == ['\"]([\w-]+)", marker)
            line = f"pip install 'convergebench{f'[{extra[1]}]' if extra else ''}'"
            return as_installed(f"{name} is not installed: {line}")
    return None


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH})
@click.version_option(package_name="convergebench")
def main() -> None:
    """Edit, undo, repeat: how many rounds before the picture breaks?

    \b
    convergebench demo                              everything in two minutes
    convergebench plan --suite demo --editor paint  what a run would do and cost
    """


if __name__ == "__main__":
    sys.exit(main(prog_name="convergebench"))
