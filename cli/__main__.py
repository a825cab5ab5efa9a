"""The command `convergebench`: every file of this folder is a verb, except those that begin with an underscore."""

import importlib
import importlib.metadata
import re
import sys
from pathlib import Path

import click
from convergebench.generation.records import UserError


class BadUsage(click.ClickException):
    """What the user gave cannot be used: one sentence, and exit code 2."""

    exit_code = 2


class Verbs(click.Group):
    """A verb is a file beside this one that holds a click command; a trailing underscore avoids Python's keywords."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        files = Path(__file__).parent.glob("[a-z]*.py")
        return sorted(path.stem.rstrip("_").replace("_", "-") for path in files)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        stem = name.replace("-", "_")
        if not (Path(__file__).parent / f"{stem}.py").exists():
            stem += "_"
        module = importlib.import_module(f"convergebench.cli.{stem}")
        return next(value for value in vars(module).values() if isinstance(value, click.Command) and value.name == name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.list_commands(ctx):
            ctx.fail(f"no verb {args[0]!r}; the verbs are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        if hasattr(sys.stdout, "reconfigure"):  # names of files may hold bytes that are no text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except UserError as error:
            raise BadUsage(str(error)) from error
        except OSError as error:
            if sentence := path_sentence(error):
                raise BadUsage(sentence) from error
            raise
        except MemoryError as error:
            advice = "give the same command again with fewer --workers or less beside it; what was done is kept"
            raise click.ClickException(f"there was not enough memory; {advice}") from error
        except UnicodeEncodeError as error:
            if "surrogates" not in error.reason:
                raise
            where = str(error.object).encode("utf-8", "backslashreplace").decode()[:80]
            raise BadUsage(f"{where!r} holds bytes that are no text, and no such path can be used here") from error
        except RuntimeError as error:  # before Python 3.13, what Path.resolve says of a loop of links
            if str(error).startswith("Symlink loop"):
                raise BadUsage(f"{str(error)[0].lower()}{str(error)[1:]}; give another path") from error
            raise
        except ModuleNotFoundError as error:
            if sentence := install_line(error.name or ""):
                raise BadUsage(sentence) from error
            raise


def path_sentence(error: OSError) -> str | None:
    """What is wrong with a path that was given, or with the disk; None where it is neither."""
    from convergebench.generation.files import CAUSES, PATH_CAUSES

    known = {**CAUSES, **PATH_CAUSES}
    if error.errno not in known:
        return None
    if error.filename is None:  # a file that was opened already
        return f"a file cannot be written: {known[error.errno]}"
    name = str(error.filename)
    shown = name if len(name) <= 80 else f"{name[:40]}...{name[-20:]}"
    return f"{shown!r} cannot be used: {known[error.errno]}"


def install_line(module: str) -> str | None:
    """How to install a module that is missing here; None where it is none of this distribution's requirements."""
    name = module.partition(".")[0]
    for requirement in importlib.metadata.requires("convergebench") or ():
        wanted, _, marker = requirement.partition(";")
        if re.match(r"[\w.-]+", wanted)[0].replace("-", "_").lower() == name:  # type: ignore[index]
            extra = re.search(r"extra == ['\"]([\w-]+)", marker)
            return f"{name} is not installed: pip install 'convergebench{f'[{extra[1]}]' if extra else ''}'"
    return None


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="convergebench")
def main() -> None:
    """How long does an image editor survive being used again and again?

    \b
    convergebench demo                                  chains, dataset, scores and report in two minutes
    convergebench plan --suite demo --editor paint      what a run would do and cost
    """


if __name__ == "__main__":
    sys.exit(main(prog_name="convergebench"))
