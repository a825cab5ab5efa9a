"""Fixtures of the Space: a small dataset as it serves it, and Chromium on a server."""

import pytest
import small_dataset
import twelve_editors
from chromium import chromium
from convergebench.spaces_app.space.served_dataset import open_dataset
from space_server import shared

WAIT = 30_000  # milliseconds, for machines that are busy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(str(folder))


@pytest.fixture(scope="session")
def twelve_folder(tmp_path_factory):
    """Twelve editors on 13 pictures, whose prices differ."""
    return twelve_editors.write(tmp_path_factory.mktemp("twelve") / "convergebench", steps=13 * 21 * 12)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    """Ended by pytest and not at the process's exit, for which pytest-xdist waits only seconds on a busy machine."""
    with shared(tmp_path_factory.mktemp("space")) as running:
        yield running


@pytest.fixture(scope="module")
def server(shared_server):
    return shared_server


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser, server):
    """Opens an address of the Space; at the end the console must be empty and no other host may have been asked."""
    pages, trouble, asked = [], [], []

    def opened(query="", width=1280, height=900, scheme="light", trouble_is_expected=False):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.set_default_timeout(WAIT)
        if not trouble_is_expected:
            page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        pages.append(page)
        page.goto(f"{server.address}/{query}")
        page.wait_for_selector("#cb[data-on]", state="attached")
        return page

    yield opened
    for page in pages:
        assert page.title().endswith("ConvergeBench")  # a name that is HTML would have changed it
        page.close()
    assert trouble == []
    assert [url for url in asked if not url.startswith((server.address, "data:", "blob:"))] == []
