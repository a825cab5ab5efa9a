"""Commands given in this process."""

from typing import Any

from click.testing import CliRunner, Result
from convergebench.cli.__main__ import main


def invoke(*words: Any) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


def say(*words: Any) -> str:
    """What a command prints that has to succeed."""
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    return done.stdout
