"""The page in a real browser, on a phone and on a desk, in light and dark, by keyboard and in print."""

from pathlib import Path

import pytest
from chromium import needs_chromium
from convergebench.spaces_app.reporting.write import write_files
from simulated import dataset, report

pytestmark = needs_chromium
CONTRAST = Path(__file__).with_name("contrast.js").read_text()
# Of the figures that are shown: how many letters' sizes are known, the smallest, and what reaches out of its figure.
LETTERS = Path(__file__).with_name("letters.js").read_text()
SIZES = [(390, "light"), (390, "dark"), (1400, "light"), (1400, "dark")]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    editors = {"one": 1.5, "an-editor-with-a-long-name:steps=28,guidance=2.5": 1.0, "identity": 0.01}
    write_files(report(*dataset(editors, sources=12, programs=2, rounds=10)).tables, out)
    return (out / "index.html").as_uri()


@pytest.fixture
def page(browser, address):
    """The report at 390 pixels, as on a phone, until a test makes it wider."""
    opened = browser.new_page(viewport={"width": 390, "height": 900})
    opened.goto(address)
    yield opened
    opened.close()


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_the_page_fits_asks_for_nothing_and_reports_no_error(browser, address, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert errors == []
    worst = page.evaluate(CONTRAST)
    assert worst["count"] > 300
    assert worst["ratio"] >= 4.5, worst
    page.close()


def test_every_control_takes_and_shows_keyboard_focus(page):
    reachable = "[...document.querySelectorAll('a, summary, [tabindex=\"0\"]')]"
    wanted = page.evaluate(f"{reachable}.filter(each => each.checkVisibility()).length")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    reached = 1
    while reached <= wanted:
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        reached += 1
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", page.evaluate("document.activeElement.outerHTML.slice(0, 80)")
    assert reached == wanted


def test_figure_text_is_at_least_twelve_pixels_and_not_cut_off(page):
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for width in (360, 390, 560, 561, 1050, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        letters = page.evaluate(LETTERS)
        assert letters["count"] > 100
        assert letters["least"] >= 12, width
        assert letters["cut"] == [], width


def test_the_report_is_three_screens_and_the_rest_is_folded(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * 900
    page.get_by_role("link", name="Methods").click()
    assert page.locator("#methods p").first.is_visible()


def test_in_print_the_dark_theme_is_light_and_nothing_scrolls(page):
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    assert page.pdf().startswith(b"%PDF")
