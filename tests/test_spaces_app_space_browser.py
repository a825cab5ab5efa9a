"""The Space in a real browser: every tab, the view of a chain, links, keys, uploads, a phone."""

import re
import shutil
import zipfile

import pytest
import small_dataset
from space_server import HOSTILE, shared

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TABS = ("Leaderboard", "Curves", "Chains", "Metrics", "Score yours")
WAIT = 30_000  # milliseconds, for machines that are busy


@pytest.fixture(scope="module")
def server():
    return shared()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, server):
    """Opens an address of the Space; at the end nothing may have been said to the console or asked of another host."""
    pages, trouble = [], []

    def opened(query="", width=1280, height=900, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.set_default_timeout(WAIT)
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: trouble.append(request.url) if elsewhere(request.url) else None)
        pages.append(page)
        page.goto(f"{server.address}/{query}")
        page.wait_for_selector(".cb-viewer[data-on]" if "chain=" in query else ".cb-board", state="attached")
        return page

    def elsewhere(url):
        return not url.startswith((server.address, "data:", "blob:"))

    yield opened
    for page in pages:
        assert page.title() == "ConvergeBench"  # a name that is HTML would have changed it
        page.close()
    assert trouble == []


def chain_of(server, editor, program="hat"):
    return server.ask("chains", editor, "harbour", program, 0)[1][0]["chain"]


def shown(page):
    """What the view of a chain shows now, once its picture is there."""
    page.wait_for_function(
        "(() => { const i = document.querySelector('.cb-after'); return i && i.complete && i.naturalWidth > 0; })()"
    )
    return {
        "picture": page.get_attribute(".cb-after", "src"),
        "words": page.text_content(".cb-info blockquote"),
        "scores": page.text_content(".cb-scores") if page.query_selector(".cb-scores") else "",
        "cursor": page.get_attribute(".cb-cursor", "x1"),
        "where": page.text_content(".cb-controls output"),
    }


def until(page, what, before):
    """Waits until a part of the view is another than before."""
    page.wait_for_function(
        f"before => document.querySelector({what!r}).getAttribute('src') !== before", arg=before["picture"]
    )
    return shown(page)


def open_tab(page, name):
    """Click until the tab is open: a page that is still waking up on a busy machine may lose a click."""
    tab = page.get_by_role("tab", name=name)
    for _ in range(10):
        tab.click()
        page.wait_for_timeout(300)
        if tab.get_attribute("aria-selected") == "true":
            return
    raise AssertionError(f"the tab {name!r} does not open")


def test_every_tab_opens_without_a_word_to_the_console(visit):
    page = visit()
    assert page.text_content(".cb-story h2").startswith("On average steady keeps 4.0 of 4 rounds")
    page.wait_for_function("document.querySelectorAll('.cb-frames img[src]').length >= 6")
    for name in TABS[1:]:
        open_tab(page, name)
        if name in ("Curves", "Metrics"):
            page.wait_for_selector(f"#{name.lower()} .js-plotly-plot .scatterlayer .trace")
            if name == "Metrics":
                legend = page.locator("#metrics .legendtext").all_text_contents()
                assert legend == ["RMSE", "SSIM", "LPIPS", "NIQE (no reference)", "MUSIQ (no reference)"]
                assert "MUSIQ" in page.inner_text("#agreement thead")
        elif name == "Chains":
            shown(page)
        else:
            page.wait_for_selector("#original input[type=file]", state="attached")
        assert name.lower().replace(" ", "-") in page.url


def test_the_table_sorts_by_number_and_the_threshold_moves_it(visit):
    page = visit()
    column = "document.querySelectorAll('#board tbody:first-of-type tr:not(.cb-role) th')"
    names = f"[...{column}].map(each => each.textContent)"
    first = page.evaluate(names)
    assert first[0] == "steady"
    assert HOSTILE in first
    heading = page.get_by_role("button", name="Rounds kept")
    heading.click()
    heading.click()
    assert page.evaluate(names) == first[::-1]
    for heading, most in (("Time a round", "fading"), ("Cost a round", "steady")):
        page.get_by_role("button", name=heading).click()
        assert page.evaluate(names)[0] == most
    before = page.inner_text("#board")
    page.get_by_role("spinbutton").first.fill("0.9")
    page.get_by_role("spinbutton").first.press("Enter")
    page.wait_for_function("before => document.querySelector('#board').innerText !== before", arg=before)


def test_a_row_leads_to_the_chains_of_its_editor(visit):
    page = visit()
    page.click("#board a[data-editor='fading']")
    page.wait_for_selector(".cb-viewer[data-on]")
    assert page.text_content(".cb-column h3") == "fading"
    assert "tab=chains" in page.url


def test_the_slider_changes_picture_words_scores_and_cursor(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=2")
    before = shown(page)
    assert before["where"] == "round 1 of 4, step 2 of 8"
    page.locator(".cb-film").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelectorAll('.cb-film img[src]').length >= 5")
    page.locator(".cb-controls input[type=range]").fill("7")
    after = until(page, ".cb-after", before)
    assert [name for name in before if before[name] == after[name]] == []
    assert after["words"] == "<b onclick=x>add</b> a hat"
    assert "step=7" in page.url


def test_arrow_keys_walk_and_an_address_opens_exactly_what_was_seen(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=3")
    before = shown(page)
    page.keyboard.press("ArrowRight")
    after = until(page, ".cb-after", before)
    assert "step=4" in page.url
    page.get_by_role("button", name="Difference").click()
    page.wait_for_function("location.search.includes('view=difference')")
    difference = until(page, ".cb-after", after)
    again = visit(page.url.split("/")[-1])
    assert shown(again) == difference
    page.keyboard.press("ArrowLeft")
    assert "step=3" in page.url


def test_another_choice_brings_another_chain_into_the_view(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=3")
    shown(page)
    page.get_by_role("button", name="Best").click()
    page.wait_for_function("document.querySelector('.cb-column h3')?.textContent === 'steady'")
    assert shown(page)["words"]
    assert chain_of(server, "fading") not in page.url
    page.get_by_role("button", name="Worst").click()
    page.wait_for_function("document.querySelector('.cb-column h3')?.textContent !== 'steady'")
    assert page.locator(".cb-viewer").count() == page.locator(".cb-film").count() == 1


@pytest.mark.slow
def test_two_editors_walk_in_lockstep(visit, server):
    chains = [chain_of(server, editor) for editor in ("fading", "steady")]
    page = visit(f"?tab=chains&chain={chains[0]}&beside={chains[1]}&step=8")
    assert page.locator(".cb-column h3").all_text_contents() == ["fading", "steady"]
    sources = "[...document.querySelectorAll('.cb-after')].map(each => each.getAttribute('src'))"
    page.wait_for_function(f"{sources}.every(Boolean)")
    before = page.evaluate(sources)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"before => {sources}.every((each, place) => each !== before[place])", arg=before)
    assert len(set(page.evaluate("[...document.querySelectorAll('.cb-cursor')].map(each => each.dataset.step)"))) == 1


@pytest.mark.slow
def test_two_editors_stand_side_by_side_on_a_phone(visit, server):
    chains = [chain_of(server, editor) for editor in ("fading", "steady")]
    page = visit(f"?tab=chains&chain={chains[0]}&beside={chains[1]}&step=8", 390, 844)
    shown(page)
    first, second = (page.locator(".cb-sheet").nth(each).bounding_box() for each in (0, 1))
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_every_tab_is_as_wide_as_the_others(visit):
    widths = {
        tab: visit(f"?tab={tab}").locator(".cb-head").bounding_box()["width"]
        for tab in ("leaderboard", "curves", "metrics", "score-yours")
    }
    assert len(set(widths.values())) == 1, widths


@pytest.mark.slow
def test_the_divider_is_dragged_and_the_picture_zooms(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=8")
    shown(page)
    box = page.locator(".cb-sheet").bounding_box()
    middle = box["y"] + min(box["height"], 300) / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.2, middle, steps=4)
    page.mouse.up()
    assert 15 <= int(page.get_attribute(".cb-handle", "aria-valuenow")) <= 25
    page.get_by_role("button", name="4×").click()
    assert page.locator(".cb-sheet").bounding_box()["width"] > 3.9 * box["width"]
    page.wait_for_function("/received|png/.test(document.querySelector('.cb-after').getAttribute('src'))")


def test_a_series_that_is_brought_is_scored_beside_the_editors(visit, server, tmp_path):
    files = {"original.png": 0.0, "round1.png": 0.1, "round2.png": 0.9}
    for name, noise in files.items():
        (tmp_path / name).write_bytes(small_dataset.picture(3, noise))
    page = visit("?tab=score-yours")
    page.set_input_files("#original input[type=file]", tmp_path / "original.png")
    page.wait_for_selector("#original .file-preview, #original a")
    page.set_input_files("#returns input[type=file]", [tmp_path / "round1.png", tmp_path / "round2.png"])
    page.wait_for_selector("#returns .file-preview, #returns a")
    page.get_by_role("button", name="Score", exact=True).click()
    page.wait_for_selector("#answer h3")
    assert page.text_content("#answer h3") == "Quality half-life: round 2"
    assert list((server.log.parent / "uploads").rglob("*.png")) == []


@pytest.mark.slow
def test_a_zip_is_scored_and_what_is_no_picture_is_refused_in_a_box(visit, tmp_path):
    with zipfile.ZipFile(tmp_path / "series.zip", "w") as archive:
        for number, noise in enumerate((0.0, 0.1, 0.9)):
            archive.writestr(f"series/{number}.png", small_dataset.picture(3, noise))
    (tmp_path / "words.png").write_bytes(b"these are words")
    page = visit("?tab=score-yours")

    def score(files, answer):
        page.set_input_files("#returns input[type=file]", files)
        page.wait_for_selector("#returns .file-preview, #returns a")
        page.get_by_role("button", name="Score", exact=True).click()
        page.wait_for_selector(answer)

    score([tmp_path / "series.zip"], "#answer h3")
    assert page.text_content("#answer h3") == "Quality half-life: round 2"
    page.wait_for_selector("#returns input[type=file]", state="attached")  # the files are gone
    score([tmp_path / "words.png", tmp_path / "words.png"], ".cb-error")
    assert page.text_content(".cb-error") == (
        "'words.png' cannot be scored: it is 15 bytes that are no picture, starting with 'these are words'"
    )
    assert page.evaluate("getComputedStyle(document.querySelector('.cb-error')).borderTopWidth") == "1px"


SLOW = [pytest.param(query, marks=pytest.mark.slow) for query in ("?tab=curves", "?tab=metrics", "?tab=score-yours")]


@pytest.mark.parametrize("query", ["", "?tab=chains&chain={}&step=4", *SLOW])
def test_a_phone_shows_it_without_scrolling_sideways(visit, server, query):
    page = visit(query.format(chain_of(server, "fading")), 390, 844, "dark")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if "chain=" in query:
        shown(page)
        slider, picture = (page.locator(each).bounding_box() for each in (".cb-controls", ".cb-sheet"))
        assert slider["y"] - picture["y"] < 844  # both fit on one screen


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_words_stand_out_from_their_background(visit, server, scheme):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=4", scheme=scheme)
    for what in (".cb-head p", ".cb-column header p", ".cb-chip", ".cb-scores th[scope=col]", ".cb-info dt"):
        colour = page.evaluate(f"getComputedStyle(document.querySelector({what!r})).color")
        behind = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert contrast(colour, behind) >= 4.5, what


def contrast(first, second):
    from convergebench.spaces_app import palette

    codes = [
        "#" + "".join(f"{int(float(part)):02x}" for part in re.findall(r"[\d.]+", each)[:3]) for each in (first, second)
    ]
    return palette.contrast(*codes)


@pytest.mark.slow
def test_an_address_that_asks_for_nonsense_opens_the_first_tab(visit):
    page = visit("?tab=../../etc&step=x&chain_=1&view=%3Cscript%3E&editor=%3Cscript%3E")
    assert page.get_by_role("tab", name="Leaderboard").get_attribute("aria-selected") == "true"
