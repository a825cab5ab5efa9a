"""axe finds no violation on any tab of the Space, light and dark, on a desk and on a phone."""

import shutil
from importlib import resources

import pytest
from space_server import shared

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install axe-playwright-python")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"),
]

READY = {
    "leaderboard": "#results-bar .cb-tools",
    "failures": ".cb-card",
    "compare": ".cb-grid-table",
    "curves": ".cb-chart path.cb-fill",
    "chains": ".cb-info blockquote",
    "metrics": "#agreement table",
    "score-yours": "#original",
    "labels": "#cb-label-stage button",
}
VIEWS = [(1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light"), (390, 844, "dark")]
# Within our page; Gradio's footer below it is not ours.
CHECK = """async () => (await axe.run('#cb')).violations.map(each => each.id + ': ' + each.help + ': ' +
    each.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' | ' +
    (node.any[0] ?? node.all[0] ?? node.none[0] ?? {message: ''}).message).join(' || '))"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.mark.parametrize(("width", "height", "scheme"), VIEWS)
def test_axe_finds_no_violation_on_any_tab(browser, width, height, scheme):
    script = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
    found = {}
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    for tab, ready in READY.items():
        page.goto(f"{shared().address}/?tab={tab}")
        page.wait_for_selector(ready, state="attached")
        page.wait_for_timeout(500)
        page.evaluate(script)
        found[tab] = page.evaluate(CHECK)
    page.close()
    violations = [f"{tab}: {each}" for tab, own in found.items() for each in own]
    assert not violations, "\n".join(violations)
