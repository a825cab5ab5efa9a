"""Chromium as tests drive it, and the fixtures that need it."""

import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
WAIT = 30_000  # milliseconds, for machines that are busy
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")


@contextmanager
def chromium():
    """A browser that is closed at the end."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser, server):
    """Opens an address of the Space; at the end the console must be empty and no other host may have been asked."""
    pages, trouble = [], []

    def opened(query="", width=1280, height=900, scheme="light", trouble_is_expected=False):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.set_default_timeout(WAIT)
        if not trouble_is_expected:
            page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: None if is_here(request.url) else trouble.append(request.url))
        pages.append(page)
        page.goto(f"{server.address}/{query}")
        page.wait_for_selector("#cb[data-on]", state="attached")
        return page

    def is_here(url):
        return url.startswith((server.address, "data:", "blob:"))

    yield opened
    for page in pages:
        assert page.title() == "ConvergeBench"  # a name that is HTML would have changed it
        page.close()
    assert trouble == []
