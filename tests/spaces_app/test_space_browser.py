"""The Space in a real browser: every tab, the view of a chain, links, keys, uploads, a phone."""

import numpy as np
import pytest
import small_dataset
from chromium import needs_chromium
from PIL import Image
from space_server import HOSTILE
from test_space_api import chain_of

pytestmark = needs_chromium
TABS = {  # each with its id and what shows that it is there
    "Failures": ("failures", ".cb-card"),
    "Compare": ("compare", ".cb-grid-table"),
    "Curves": ("curves", "#curves .cb-chart path.cb-fill"),
    "Viewer": ("chains", ".cb-after"),
    "Labels": ("labels", "#cb-label-stage img"),
    "Metrics": ("metrics", "#metrics .cb-chart path.cb-fill"),
    "Try yours": ("try-yours", "#original"),
}


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


def another(page, before):
    """The same, once the picture is another than before."""
    changed = "before => document.querySelector('.cb-after').getAttribute('src') !== before"
    page.wait_for_function(changed, arg=before["picture"])
    return shown(page)


def drag(page, start, end):
    """Drag from one place of the picture's sheet to another, both as shares of its width and height."""
    box = page.locator(".cb-sheet").bounding_box()
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()


def saved(page, form, folder, name):
    """The file that a link or a button of the shown tab gives."""
    with page.expect_download() as waiting:
        page.locator(f"section:not([hidden]) .cb-files :text-is('{form}')").click()
    assert waiting.value.suggested_filename == name
    waiting.value.save_as(folder / name)
    return folder / name


def test_every_tab_opens_without_a_word_to_the_console(visit):
    page = visit()
    assert page.text_content(".cb-lead").startswith("No verdict: 2 pictures, 12 needed.")
    page.wait_for_function("document.querySelectorAll('.cb-frames img[src]').length >= 12")
    for name, (tab, ready) in TABS.items():
        page.get_by_role("tab", name=name, exact=True).click()
        page.wait_for_selector(f"[role=tab][aria-selected=true]:has-text('{name}')")
        page.wait_for_selector(ready)
        assert tab in page.url
    page.go_back()
    page.wait_for_selector("[role=tab][aria-selected=true]:has-text('Metrics')")


def test_the_table_sorts_searches_and_has_more_columns(visit):
    page = visit()
    column = "document.querySelectorAll('#board tbody:first-of-type tr:not(.cb-role):not([hidden]) th a')"
    names = f"[...{column}].map(each => each.textContent)"
    cells = column.replace("th a", "[data-col=rounds_kept]")
    rounds = f"[...{cells}].map(each => Number(each.dataset.value))"
    falling = page.evaluate(rounds)
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > falling[-1]
    for _ in range(2):
        page.get_by_role("button", name="Rounds survived").click()
    assert page.evaluate(rounds) == falling[::-1]
    assert page.evaluate(names)[-1] == "steady"
    assert "sort=rounds_kept+up" in page.url
    page.get_by_label("Search editor").fill("fad")
    assert page.evaluate(names) == ["fading"]
    assert page.locator("[data-col=survival]").first.is_hidden()
    page.locator("summary", has_text="Columns").click()
    page.locator(".cb-menu label", has_text="Survived all rounds").click()
    assert page.locator("[data-col=survival]").first.is_visible()
    again = visit(f"?{page.url.partition('?')[2]}&threshold=0.6")
    again.wait_for_function(f"({names}).join() === 'fading'")
    assert again.locator("[data-col=survival]").first.is_visible()


def test_a_cause_leads_to_its_failures_step_by_step(visit):
    page = visit()
    page.locator("#board tr:has-text('fading') td[data-col=cause] a").click()
    page.wait_for_selector(".cb-card")
    assert "cause=quality" in page.url
    assert page.locator(".cb-card").count() == 4
    page.locator(".cb-card").first.click()
    before, first = shown(page), page.url
    assert "fails in round" in page.inner_text(".cb-column header p")
    assert page.locator(".cb-frame[data-now][data-lost]").count() == 1
    page.get_by_role("button", name="Next failure").click()
    page.wait_for_function("first => location.href !== first", arg=first)
    page.wait_for_function("document.querySelector('.cb-around span')?.textContent === '2 of 4'")
    assert another(page, before)["words"]
    page.go_back()
    page.go_back()
    page.wait_for_selector(".cb-card >> visible=true")


@pytest.mark.slow
def test_the_part_that_was_lost_is_drawn_where_it_was(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, HOSTILE)}")
    shown(page)
    drawn, picture = page.locator(".cb-lost .cb-outline-over"), page.locator(".cb-after")
    drawn.wait_for()
    part, whole = drawn.bounding_box(), picture.bounding_box()
    share = [(part["x"] - whole["x"]) / whole["width"], (part["y"] - whole["y"]) / whole["height"]]
    assert share == pytest.approx([0.25, 0.5], abs=0.02)
    assert part["width"] / whole["width"] == pytest.approx(0.5, abs=0.03)
    page.goto(f"{server.address}/?tab=failures&editor={HOSTILE}")
    page.wait_for_selector(".cb-card .cb-outline-over")


def test_slider_and_keys_walk_and_an_address_opens_what_was_seen(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=2")
    before, slider = shown(page), ".cb-controls input[type=range]"
    assert before["where"] == "round 1 of 4, step 2 of 8"
    page.wait_for_function("document.querySelectorAll('.cb-film img[src]').length >= 5")
    page.locator(slider).fill("7")
    moved = another(page, before)
    assert [name for name in before if before[name] == moved[name]] == []
    assert moved["words"] == "<b onclick=x>add</b> a hat"
    assert page.get_attribute(slider, "aria-valuetext") == "round 4 of 4, step 7 of 8"
    page.keyboard.press("ArrowRight")
    after = another(page, moved)
    assert "step=8" in page.url
    page.get_by_role("button", name="Difference").click()
    page.wait_for_function("location.search.includes('view=difference')")
    difference = another(page, after)
    assert shown(visit(f"?{page.url.partition('?')[2]}")) == difference
    page.keyboard.press("Home")
    page.wait_for_function("location.search.includes('step=0')")
    for how in ("Best", "Worst"):
        page.get_by_role("button", name=how, exact=True).click()
        page.wait_for_function("!location.search.includes('step=0')")
        shown(page)
        assert page.text_content(".cb-column h3") == "fading"


@pytest.mark.slow
def test_nonsense_in_an_address_does_not_hide_the_page(visit):
    page = visit("?tab=chains&chain=nothing", trouble_is_expected=True)
    page.wait_for_selector("#cb-trouble:not([hidden])")
    assert "'nothing'" in page.inner_text("#cb-trouble")
    page = visit("?tab=../../etc&step=x&chain_=1&view=%3Cscript%3E&editor=%3Cscript%3E")
    assert page.get_by_role("tab", name="Results").get_attribute("aria-selected") == "true"
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    page.wait_for_selector(".cb-board")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(10, 15, 30)"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_two_editors_walk_in_lockstep_side_by_side(visit, server, width):
    chains = [chain_of(server, editor) for editor in ("fading", "steady")]
    page = visit(f"?tab=chains&chain={chains[0]}&beside={chains[1]}&step=8", width, 844)
    page.wait_for_selector(".cb-column")
    assert page.locator(".cb-column h3").all_text_contents() == ["fading", "steady"]
    sources = "[...document.querySelectorAll('.cb-after')].map(each => each.getAttribute('src'))"
    page.wait_for_function(f"{sources}.every(Boolean)")
    before = page.evaluate(sources)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"before => {sources}.every((each, place) => each !== before[place])", arg=before)
    cursors = page.evaluate("[...document.querySelectorAll('.cb-cursor')].map(each => each.dataset.step)")
    assert len({*cursors}) == 1
    shown(page)
    first, second = (page.locator(".cb-sheet").nth(place).bounding_box() for place in (0, 1))
    assert (first["y"], first["x"] + first["width"] <= second["x"]) == (second["y"], True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_the_divider_is_dragged_and_the_picture_zooms(visit, server):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=8")
    shown(page)
    width = page.locator(".cb-sheet").bounding_box()["width"]
    drag(page, (0.7, 0.3), (0.2, 0.3))
    assert 15 <= int(page.get_attribute(".cb-handle", "aria-valuenow")) <= 25
    page.keyboard.press("Home")
    assert page.get_attribute(".cb-handle", "aria-valuenow") == "0"
    page.get_by_role("button", name="4×").click()
    assert page.locator(".cb-sheet").bounding_box()["width"] > 3.9 * width


PLACE = """() => [".cb-before", ".cb-after"].map((name, half) => {
  const picture = document.querySelector(name).getBoundingClientRect();
  const sheet = document.querySelector(".cb-sheet").getBoundingClientRect();
  return [(sheet.x + sheet.width * (0.25 + half / 2) - picture.x) / picture.width,
          (sheet.y + sheet.height / 2 - picture.y) / picture.height, picture.width / sheet.width]; })"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_enlarged_side_by_side_both_halves_show_one_place(visit, server, width):
    page = visit(f"?tab=chains&chain={chain_of(server, 'fading')}&step=8&view=side&zoom=4", width, 844)
    shown(page)
    before = page.evaluate(PLACE)
    assert before[0] == pytest.approx(before[1], abs=0.01)
    assert before[0][2] == pytest.approx(4 * 0.5, rel=0.02)
    drag(page, (0.4, 0.6), (0.2, 0.4))
    after = page.evaluate(PLACE)
    assert after[0] == pytest.approx(after[1], abs=0.01)
    assert all(now > then + 0.03 for now, then in zip(after[0][:2], before[0][:2], strict=True))


@pytest.mark.slow
def test_a_series_is_scored_and_shown_under_any_threshold(visit, server, tmp_path):
    noises = {"original": 0.0, "edited1": 0.5, "edited2": 0.6, "undone1": 0.05, "undone2": 0.9}
    for name, noise in noises.items():
        (tmp_path / f"{name}.png").write_bytes(small_dataset.picture(3, noise))
    (tmp_path / "words.png").write_bytes(b"these are words")
    page = visit("?tab=try-yours", trouble_is_expected=True)

    def score(returns, shown="#answer h3"):
        page.set_input_files("input#returns", returns)
        page.get_by_role("button", name="Score", exact=True).click()
        page.wait_for_selector(shown)
        return page.text_content(shown)

    alone = [tmp_path / f"{name}.png" for name in ("undone2", "original", "undone1")]
    assert score(alone).startswith("Your series fails in round 2")
    refused = score([tmp_path / "words.png"] * 2, "#answer .cb-error")
    assert refused.startswith("'words.png' cannot be scored")
    page.set_input_files("input#original", tmp_path / "original.png")
    told = score([tmp_path / "undone1.png", tmp_path / "undone2.png"])
    assert told.startswith("Your series fails in round 2 of 2: one area no longer matches, damage ")
    page.locator("#answer input[type=range]").fill("0.95")
    page.locator("#answer input[type=range]").dispatch_event("change")
    page.wait_for_function("document.querySelector('#answer h3').textContent.includes('< 95%')")
    page.get_by_role("button", name="Compare with editors").click()
    page.wait_for_selector(".cb-grid-table th:has-text('Yours')")
    page.go_back()
    page.set_input_files("input#edits", [tmp_path / "edited1.png", tmp_path / "edited2.png"])
    page.get_by_role("button", name="Score", exact=True).click()
    page.wait_for_selector("#answer .cb-note:has-text('Checked like every test')")
    page.get_by_role("button", name="Open in the viewer").click()
    assert shown(page)["picture"].startswith("blob:")
    assert page.locator(".cb-frame").count() == 5
    assert list((server.log.parent / "uploads").rglob("*.png")) == []


@pytest.mark.slow
def test_compare_is_saved_as_a_grid_of_all_pictures(visit, tmp_path):
    page = visit("?tab=compare&source=harbour&program=hat&e=steady&e=fading")
    page.wait_for_selector(".cb-grid-table")
    columns = page.locator(".cb-grid-table thead th").count() - 1
    picture = Image.open(saved(page, "PNG", tmp_path, "compare-harbour-hat.png")).convert("RGB")
    wide, high = picture.size
    assert high < wide < 3 * high
    colourful = np.ptp(np.asarray(picture, int), axis=2) > 40
    rows = colourful[: high // 2].any(axis=0), colourful[high // 2 :].any(axis=0)
    assert all(row.mean() > 0.5 for row in rows)  # pictures all along both rows
    svg = saved(page, "SVG", tmp_path, "compare-harbour-hat.svg").read_text()
    assert all(words in svg for words in ("steady", "fading", "undone 4", "fails in round"))
    assert svg.count("<image") == 2 * columns


@pytest.mark.slow
def test_curves_point_out_a_line_and_are_saved_for_print(visit, tmp_path):
    page = visit("?tab=curves")
    page.wait_for_selector(".cb-chart path.cb-fill")
    assert "No edit" not in page.locator(".cb-chart").text_content()  # baselines are off at first
    page.get_by_role("button", name="No edit").click()
    page.wait_for_function("document.querySelector('.cb-chart').textContent.includes('No edit')")
    for kind, start in (("SVG", b"<svg"), ("PDF", b"%PDF"), ("PNG", b"\x89PNG"), ("CSV", b"editor,round")):
        path = saved(page, kind, tmp_path, f"curves-quality.{kind.lower()}")
        assert path.read_bytes()[:100].lstrip().startswith(start)
    page.get_by_role("button", name="Best five", exact=True).click()
    page.wait_for_selector(".cb-picks [title=identity][aria-pressed=false]")
    table = saved(page, "LaTeX table", tmp_path, "convergebench-table.tex").read_text()
    assert len({line.count("&") - line.count(r"\&") for line in table.splitlines() if line.endswith(r"\\")}) == 1
    drawn = page.locator(".cb-chart").bounding_box()
    page.mouse.move(drawn["x"] + drawn["width"] / 2, drawn["y"] + drawn["height"] / 2)
    page.wait_for_function("document.querySelector('.cb-readout').textContent.startsWith('Round')")


SLOW = [pytest.param(f"?tab={tab}", marks=pytest.mark.slow) for tab, _ in TABS.values() if tab != "chains"]


@pytest.mark.parametrize("query", ["", "?tab=chains&chain={}&step=4", *SLOW])
def test_a_phone_shows_it_without_scrolling_sideways(visit, server, query):
    page = visit(
        query.format(chain_of(server, "fading")), 390, 844, "dark", trouble_is_expected="labels" in query
    )
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if "chain=" in query:
        shown(page)
        slider, picture = (page.locator(part).bounding_box() for part in (".cb-controls", ".cb-sheet"))
        assert slider["y"] - picture["y"] < 844  # both fit on one screen
