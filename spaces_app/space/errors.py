"""Why something cannot be shown, said to a visitor in one sentence."""

import functools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from convergebench.generation.records import UserError

DAMAGED_FILE = (pa.ArrowException, OSError)


class NoPicture(UserError):
    """There is no picture to show; the message says why."""


def explain_errors(handler: Callable) -> Callable:
    """The handler, with the errors that a visitor can mend or should know of as one sentence instead of a trace."""

    @functools.wraps(handler)
    def explained(*arguments: Any, **named: Any) -> Any:
        import gradio as gr

        try:
            return handler(*arguments, **named)
        except UserError as error:
            raise gr.Error(str(error), print_exception=False) from error
        except DAMAGED_FILE as error:
            raise gr.Error(damage_sentence(error), print_exception=False) from error

    return explained


def damage_sentence(error: BaseException) -> str:
    """The error's first line without the paths of this machine."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    words = " ".join(word for word in line.split() if "/" not in word)[:200]
    return f"a file of this dataset cannot be read ({words})"
