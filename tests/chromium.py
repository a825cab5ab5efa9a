"""Chromium as tests drive it."""

import shutil
from contextlib import contextmanager
from importlib import resources

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"
)


AXE = """async () => (await axe.run()).violations.map(each => each.id + ': ' + each.help + ': ' +
    each.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' | ' +
    (node.any[0] ?? node.all[0] ?? node.none[0] ?? {message: ''}).message).join(' || '))"""


def violations(page):
    """What axe finds on a page."""
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    page.evaluate((resources.files(axe) / "axe.min.js").read_text())
    return page.evaluate(AXE)


@contextmanager
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()
