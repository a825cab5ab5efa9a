"""axe finds nothing on any view of any study: every tab of the Space and the report, desk and phone, light and dark."""

import pytest
import small_dataset
from chromium import needs_chromium, violations
from convergebench.spaces_app.reporting.write import write_board
from space_server import serving

pytestmark = [needs_chromium, pytest.mark.slow]
TABS = ("leaderboard", "failures", "compare", "curves", "chains", "labels", "metrics", "try-yours")
VIEWS = [(1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light"), (390, 844, "dark")]


@pytest.fixture(scope="module", params=["edit and undo", *small_dataset.STUDIES])
def study(request, tmp_path_factory):
    """A study's dataset, and the Space that serves it."""
    root = tmp_path_factory.mktemp("study")
    if request.param == "edit and undo":
        yield small_dataset.write(root / "convergebench"), request.getfixturevalue("shared_server")
        return
    folder = small_dataset.write_study(root / "convergebench", request.param)
    with serving(folder, root / "cache") as running:
        yield folder, running


@pytest.fixture
def server(study):
    return study[1]


@pytest.mark.parametrize(("width", "height", "scheme"), VIEWS)
def test_axe_finds_nothing_on_any_tab(visit, width, height, scheme):
    found = []
    for tab in TABS:
        page = visit(f"?tab={tab}", width, height, scheme, trouble_is_expected=True)
        page.wait_for_timeout(700)
        found += [f"{tab}: {violation}" for violation in violations(page)]
    assert found == []


@pytest.mark.parametrize(("width", "height", "scheme"), VIEWS)
def test_axe_finds_nothing_in_the_report(browser, study, tmp_path, width, height, scheme):
    board = write_board(study[0], tmp_path / "report", 0.5)
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(board.page.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    found = violations(page)
    page.close()
    assert found == []
