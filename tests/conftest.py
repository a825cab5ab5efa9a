"""Says in the last lines of a run which tests were not run here, and why."""

from collections import Counter

import pytest

LEFT_OUT = {"weights": "need weights from a registry: make weights-test", "slow": "take minutes: make slow"}
_left_out = Counter()  # by mark


def pytest_deselected(items):
    _left_out.update(mark for item in items for mark in LEFT_OUT if item.get_closest_marker(mark))


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(_left_out)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which not every environment has
def pytest_testnodedown(node):
    """Every worker of pytest-xdist leaves out the same tests."""
    _left_out.update(Counter(getattr(node, "workeroutput", {}).get("left_out", {})) - _left_out)


def pytest_terminal_summary(terminalreporter):
    skipped = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())
    )
    reasons = skipped + Counter({LEFT_OUT[mark]: count for mark, count in _left_out.items()})
    if reasons:
        terminalreporter.section("not run here")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} test{'s' * (count > 1)}: {reason}")
