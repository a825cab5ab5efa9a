"""Whoever comes to a Space of twelve editors finds an answer and its uncertainty, at a desk and on a phone."""

import re

import pytest
from chromium import needs_chromium
from space_server import serving

pytestmark = [needs_chromium, pytest.mark.slow]
RANGE = r"\d\.\d\s+\[\d\.\d, \d\.\d\]"


@pytest.fixture(scope="module")
def server(twelve_folder, tmp_path_factory):
    with serving(twelve_folder, tmp_path_factory.mktemp("users") / "cache") as running:
        yield running


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_a_buyer_sees_rank_certainty_and_cost_without_a_click(visit, size):
    page = visit("", *size)
    assert re.search(RANGE, page.inner_text(".cb-lead"))
    page.wait_for_selector("#board tbody tr")
    assert re.search(RANGE, page.inner_text("#board tbody tr:nth-child(1)"))
    assert page.locator("#board [aria-sort=ascending]").get_attribute("data-col") == "rank"
    for column, words in (("rank", r"1 to \d"), ("sources", r"13"), ("cost", r"\$0\.")):
        cell = page.locator("#board tbody tr").first.locator(f"[data-col={column}]")
        assert cell.is_visible(), column
        assert re.search(words, cell.inner_text().replace("\n", " "))
    survival, prices = page.locator(".cb-small-chart").all()
    assert survival.locator("polygon").count() == 2  # bands
    assert prices.locator("title").count() == 12
    assert prices.locator("text[font-weight]").count() == 1  # all have one price, so one is the best at its price
    assert "model=" not in page.inner_text("main")  # no raw id


def test_a_small_laptop_shows_five_rows_that_keys_reach(visit):
    page = visit("", 1280, 720)
    page.wait_for_selector("#results-bar .cb-tools")
    page.wait_for_function("document.querySelectorAll('.cb-frames img[src]').length >= 6")
    box = page.locator("#board tbody tr").nth(4).bounding_box()
    assert box["y"] + box["height"] <= 720
    assert page.locator("#board .cb-bar rect").first.bounding_box()["width"] >= 12
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


def test_a_phone_exports_all_scores_and_shows_failures_in_pages(visit):
    page = visit("", 390, 844)
    page.locator("#results-bar .cb-filterbox > summary").click()
    page.locator("#results-bar summary", has_text="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All scores as Parquet").click()
    assert waiting.value.path().read_bytes()[:4] == b"PAR1"
    page = visit("?tab=failures", 390, 844)
    page.wait_for_selector(".cb-card")
    assert page.evaluate("document.documentElement.scrollHeight") < 3 * 844
    assert re.match(r"1 to 8 of \d+", page.inner_text(".cb-pages span"))
    page.get_by_role("button", name="Next →").click()
    page.wait_for_function("document.querySelector('.cb-pages span').textContent.startsWith('9 to 16')")
    assert "start=8" in page.url


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
