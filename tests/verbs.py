"""Commands given in this process."""

from click.testing import CliRunner
from convergebench.cli.__main__ import main


def invoke(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def say(*words):
    """What a command prints that has to succeed."""
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    return done.stdout
