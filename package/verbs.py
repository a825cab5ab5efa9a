"""The commands that have no function of their own, as functions: `cb.list_suites()` returns what --json prints."""

import contextlib
import importlib
import inspect
import io
import json
import re
from collections.abc import Callable
from typing import Any

import click
from convergebench.generation.records import UserError


def names() -> dict[str, str]:
    """The modules of all commands, by the names of their functions, such as `list_suites`."""
    commands = importlib.import_module("convergebench.cli.__main__").command_modules()
    return {re.sub("[ -]", "_", name): module for name, module in commands.items()}


def function_of(name: str) -> Callable[..., Any]:
    """A command as a function, with the same words and defaults."""
    command: click.Command = importlib.import_module(names()[name]).command
    parameters = {item.name: item for item in command.params if item.name and item.name != "as_json"}
    signature = inspect.Signature([_parameter(item) for item in sorted(parameters.values(), key=_is_option)])

    def call(*arguments: object, **options: object) -> Any:
        given = signature.bind(*arguments, **options).arguments
        with click.Context(command) as context, contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                values = {key: parameters[key].process_value(context, value) for key, value in given.items()}
                context.invoke(command, as_json=True, **values)
            except click.ClickException as error:
                raise UserError(error.format_message()) from error
            except SystemExit:  # with status 1, after it printed what is wrong
                if not printed.getvalue().strip():
                    raise
        return json.loads(printed.getvalue())

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__signature__ = command.help, signature  # type: ignore[attr-defined]
    return call


def _is_option(item: click.Parameter) -> bool:
    return not isinstance(item, click.Argument)


def _parameter(item: click.Parameter) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if _is_option(item) else inspect.Parameter.POSITIONAL_OR_KEYWORD
    default = inspect.Parameter.empty if item.required else None
    return inspect.Parameter(str(item.name), kind, default=default)
