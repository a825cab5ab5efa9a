"""Three users' tasks in Chromium on a Space of 12 editors with 28,000 steps: the clicks and seconds that each takes.

python tests/three_users.py [STEPS] [FOLDER]     writes the dataset to FOLDER unless it is there, or to a temporary one
"""

import sys
import tempfile
import time
from pathlib import Path

import twelve_editors
from chromium import chromium
from convergebench.spaces_app.analysis.display_names import display_names
from space_server import serving

WEAK = "qwen:model=qwen-image-edit"


class User:
    """One visitor: counts clicks, notes requests to other hosts, and says how long it took."""

    def __init__(self, browser, address, name, width, height):
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.page.set_default_timeout(60_000)
        self.name, self.clicks, self.elsewhere = name, 0, []
        here = (address, "data:", "blob:")
        self.page.on("request", lambda it: None if it.url.startswith(here) else self.elsewhere.append(it.url))
        self.begun = time.perf_counter()
        self.page.goto(address)
        self.page.wait_for_selector("#cb[data-on]", state="attached")

    def click(self, locator):
        locator.click()
        self.clicks += 1

    def save(self, locator, folder):
        with self.page.expect_download() as waiting:
            self.click(locator)
        path = Path(folder) / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    def done(self, words, most):
        seconds = time.perf_counter() - self.begun
        print(f"{self.name:12} {self.clicks} clicks (at most {most}), {seconds:4.1f} s: {words}", flush=True)
        assert self.clicks <= most, f"{self.name} needed {self.clicks} clicks"
        assert self.elsewhere == [], self.elsewhere
        self.page.close()


def buyer(browser, address):
    """On a phone: who is best and by how much, in one screen, without scrolling sideways."""
    user = User(browser, address, "buyer", 390, 844)
    box = user.page.locator(".cb-lead").bounding_box()
    assert box["y"] + box["height"] <= 844
    assert user.page.evaluate("document.documentElement.scrollWidth") <= 390
    user.done(" ".join(user.page.inner_text(".cb-lead").split()), 0)


def engineer(browser, address):
    """From the front page to the first failing step of a named editor in 2 clicks, and to the next failure in 1."""
    user = User(browser, address, "engineer", 1280, 800)
    page = user.page
    user.click(page.locator(f"#board a[title='{WEAK}']"))
    page.wait_for_selector(".cb-card")
    user.click(page.locator(".cb-card").first)
    page.wait_for_selector(".cb-frame[data-now][data-lost]")
    page.wait_for_function("document.querySelector('.cb-after')?.naturalWidth > 0")
    reason, first = page.inner_text(".cb-column header p"), page.url
    for part in (".cb-stage", ".cb-film", ".cb-controls"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800, part
    user.click(page.get_by_role("button", name="Next failure"))
    page.wait_for_function("first => location.href !== first", arg=first)
    page.wait_for_selector(".cb-frame[data-now][data-lost]")
    user.done(f"first failure: {' '.join(reason.split())}", 3)


def researcher(browser, address, folder):
    """A figure of five editors as SVG and a LaTeX table whose rows have one length, in at most 5 clicks."""
    user = User(browser, address, "researcher", 1280, 800)
    page = user.page
    user.click(page.get_by_role("tab", name="Curves", exact=True))
    page.wait_for_selector(".cb-chart path.cb-fill")
    user.click(page.get_by_role("button", name="Best five", exact=True))
    page.wait_for_function("document.querySelectorAll('.cb-picks button[aria-pressed=true]').length === 5")
    files = page.locator("#curves .cb-files")
    svg = user.save(files.get_by_role("link", name="SVG", exact=True), folder)
    assert sum(name in svg.read_text() for name in display_names(twelve_editors.EDITORS).values()) == 5
    table = user.save(files.get_by_role("button", name="LaTeX table"), folder)
    lines = [line for line in table.read_text().splitlines() if line.endswith(r"\\")]
    assert len({line.count("&") - line.count(r"\&") for line in lines}) == 1
    user.done(f"{svg.name} with five editors, {table.name} with {len(lines)} rows", 5)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else twelve_editors.STEPS
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(made) / "convergebench"
        if not (folder / "README.md").exists():
            twelve_editors.write(folder, steps)
        with serving(folder, Path(made) / "cache", wait=180) as server, chromium() as browser:
            buyer(browser, server.address)
            engineer(browser, server.address)
            researcher(browser, server.address, made)


if __name__ == "__main__":
    main()
