"""A buyer, an engineer and a researcher find an answer and its uncertainty, at a desk and on a phone: clicks, seconds.

OMP_NUM_THREADS=1 python -m pytest -q -s -m "slow or not slow" tests/spaces_app/test_three_users.py
"""

import re
import time

import pytest
import twelve_editors
from chromium import needs_chromium
from space_server import serving

pytestmark = [needs_chromium, pytest.mark.slow]
SIZES = [(1280, 720), (390, 844)]
RANGE = r"\d\.\d\s+\[\d\.\d, \d\.\d\]"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Twelve editors on 13 pictures, whose prices differ."""
    root = tmp_path_factory.mktemp("users")
    folder = twelve_editors.write(root / "convergebench", steps=13 * 21 * 12)
    with serving(folder, root / "cache") as running:
        yield running


class User:
    """Counts its clicks and the seconds until it has what it wants."""

    def __init__(self, page):
        self.page, self.clicks, self.started = page, 0, time.perf_counter()

    def click(self, target):
        target.click()
        self.clicks += 1

    def has(self, selector, pattern):
        self.page.wait_for_selector(selector)
        found = re.search(pattern, self.page.inner_text(selector))
        assert found, self.page.inner_text(selector)[:400]
        return found[0]

    def done(self, who, most):
        assert self.clicks <= most, (who, self.clicks)
        assert "model=" not in self.page.inner_text("main")  # no raw id was met on the way
        width = self.page.viewport_size["width"]
        print(f"{who} at {width} px: {self.clicks} clicks, {time.perf_counter() - self.started:.1f} s")


@pytest.mark.parametrize("size", SIZES)
def test_a_buyer_sees_rank_certainty_and_cost(visit, size):
    user = User(visit("", *size))
    assert user.has(".cb-lead", r"\d\.\d \[\d\.\d, \d\.\d\]")
    assert user.has("#board tbody tr:nth-child(1)", RANGE)
    assert user.page.locator("#board [aria-sort=ascending]").get_attribute("data-col") == "rank"
    row = user.page.locator("#board tbody tr").first
    for column, words in (("rank", r"1 to \d"), ("sources", r"13"), ("cost", r"\$0\.")):
        cell = row.locator(f"[data-col={column}]")
        assert cell.is_visible(), column
        assert re.search(words, cell.inner_text().replace("\n", " "))
    assert user.page.locator(".cb-small-chart").count() == 2  # survival with its bands, and the price
    assert user.page.locator(".cb-small-chart").first.locator("polygon").count() == 2
    assert user.page.locator(".cb-small-chart").last.locator("title").count() == 12
    named = user.page.locator(".cb-small-chart").last.locator("text[font-weight]").all_text_contents()
    assert len(named) == 1  # all have one price, so one is the best at its price
    user.done("buyer", 0)


@pytest.mark.parametrize("size", SIZES)
def test_an_engineer_sees_how_an_editor_breaks(visit, size):
    user = User(visit("", *size))
    user.click(user.page.locator("#board tbody td[data-col=cause] a").first)
    told = user.has(".cb-card", r"fails in round \d+ of 10: .+")
    assert user.has(".cb-causes [aria-pressed=true]", r"\d+")
    user.click(user.page.locator(".cb-card").first)
    assert user.has(".cb-column header p", r"fails in round \d+ of 10").startswith(told[:18])
    user.done("engineer", 2)


@pytest.mark.parametrize("size", SIZES)
def test_a_researcher_has_a_comparison_with_p_and_the_rows(visit, size, tmp_path):
    user = User(visit("", *size))
    assert user.has(
        "#versus", r"[+-]\d\.\d \[[+-]\d\.\d, [+-]\d\.\d\] rounds \(13 tests on 13 pictures, p [<\d.]+"
    )
    if size[0] < 761:
        user.click(user.page.locator("#results-bar .cb-filterbox > summary"))
    user.click(user.page.locator("#results-bar summary", has_text="Export"))
    with user.page.expect_download() as waiting:
        user.click(user.page.get_by_role("link", name="All scores as Parquet"))
    waiting.value.save_as(tmp_path / "scores.parquet")
    assert (tmp_path / "scores.parquet").read_bytes()[:4] == b"PAR1"
    user.done("researcher", 4)


def test_five_rows_of_the_table_fit_a_small_laptop(visit):
    page = visit("", 1280, 720)
    page.wait_for_selector("#results-bar .cb-tools")
    page.wait_for_function("document.querySelectorAll('.cb-frames img[src]').length >= 6")
    box = page.locator("#board tbody tr").nth(4).bounding_box()
    assert box["y"] + box["height"] <= 720
    bars = page.locator("#board .cb-bar rect").first.bounding_box()
    assert bars["width"] >= 12


def test_failures_come_in_pages_on_a_phone(visit):
    page = visit("?tab=failures", 390, 844)
    page.wait_for_selector(".cb-card")
    assert page.evaluate("document.documentElement.scrollHeight") < 3 * 844
    first = page.inner_text(".cb-pages span")
    assert re.match(r"1 to 8 of \d+", first)
    page.get_by_role("button", name="Next →").click()
    page.wait_for_function("document.querySelector('.cb-pages span').textContent.startsWith('9 to 16')")
    assert "start=8" in page.url


def test_first_row_after_eight_stops_and_escape_closes_a_menu(visit):
    page = visit("", 1280, 720)
    page.wait_for_selector("#results-bar .cb-tools")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    stops = 1
    while not page.evaluate("document.activeElement.matches('#board tbody a')"):
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= 8
    menu = page.locator("#results-bar .cb-menu", has_text="Export")
    menu.locator("summary").click()
    page.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    assert page.evaluate("document.activeElement.textContent") == "Export"


def test_every_view_has_a_title_an_address_and_an_embed(visit, server):
    status, html = server.get("/?tab=curves")
    assert (status, "<title>Curves: ConvergeBench</title>" in html.decode()) == (200, True)
    assert f'og:image" content="{server.address}/figures/hero.png"' in html.decode()
    assert server.get("/figures/hero.png")[1][:4] == b"\x89PNG"
    page = visit("?tab=curves&kind=scene")
    page.wait_for_selector("#curves .cb-chart")
    assert page.title() == "Curves: ConvergeBench"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("summary", has_text="Share").click()
    page.get_by_role("button", name="Copy HTML to embed it").click()
    page.wait_for_selector(".cb-share output:has-text('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert f'<iframe src="{server.address}/?tab=curves&amp;kind=scene"' in copied


def test_the_frame_around_a_space_is_told_the_address(visit):
    page = visit("", 1280, 720)
    page.evaluate("""() => {
      window.told = [];
      window.postMessage = (message, origin) => window.told.push([message.queryString, origin]);
      const frame = document.createElement("iframe");
      frame.src = "?tab=curves";
      document.body.append(frame);
    }""")
    page.wait_for_function("window.told.length")
    assert page.evaluate("window.told[0]") == ["tab=curves", "https://huggingface.co"]
