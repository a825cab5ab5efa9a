"""axe finds no violation on any tab of the Space, light and dark, on a desk and on a phone."""

from importlib import resources

import pytest
from chromium import needs_chromium
from space_server import shared

pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install axe-playwright-python")
pytestmark = [pytest.mark.slow, needs_chromium]
READY = {
    "leaderboard": "#results-bar .cb-tools",
    "failures": ".cb-card",
    "compare": ".cb-grid-table",
    "curves": ".cb-chart path.cb-fill",
    "chains": ".cb-info blockquote",
    "metrics": "#agreement table",
    "try-yours": "#original",
    "labels": "#cb-label-stage button",
}
CHECK = """async () => (await axe.run()).violations.map(each => each.id + ': ' + each.help + ': ' +
    each.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' | ' +
    (node.any[0] ?? node.all[0] ?? node.none[0] ?? {message: ''}).message).join(' || '))"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_on_any_tab(browser, size, scheme):
    script = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
    violations = []
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    for tab, ready in READY.items():
        page.goto(f"{shared().address}/?tab={tab}")
        page.wait_for_selector(ready, state="attached")
        page.wait_for_timeout(500)
        page.evaluate(script)
        violations += [f"{tab}: {violation}" for violation in page.evaluate(CHECK)]
    page.close()
    assert not violations, "\n".join(violations)
