"""The Space's tabs show the numbers of the report, for any filter that a visitor chooses."""

import json
import re
import zlib
from dataclasses import replace
from types import SimpleNamespace

import kept_numbers
import numpy as np
import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.records import UserError
from convergebench.spaces_app.reporting.write import CALLS
from convergebench.spaces_app.space import served_dataset
from convergebench.spaces_app.space.chains import tab as chains
from convergebench.spaces_app.space.compare.tab import _compare_figure, compare
from convergebench.spaces_app.space.curves import tab as curves
from convergebench.spaces_app.space.failures.tab import failures
from convergebench.spaces_app.space.headline import Choice, leaderboard
from convergebench.spaces_app.space.leaderboard import tab as table
from convergebench.spaces_app.space.leaderboard.tab import leaderboard_html, story
from convergebench.spaces_app.space.page import page_files
from convergebench.spaces_app.space.previews import Previews
from convergebench.spaces_app.space.served_dataset import NoPicture, open_dataset
from PIL import Image
from simulated import report
from small_dataset import chain_of


def test_the_space_has_the_reports_leaderboard(folder, dataset):
    reader = Reader(folder)
    scores, chains, floors = (list(reader.rows(name)) for name in ("scores", "chains", "floors"))
    made = report(scores, chains, floors, reader.table("steps", CALLS).to_pylist())
    rounds = ("rounds_kept", "rounds_kept_low", "rounds_kept_high")
    keys = ("editor", "rank", "half_life_text", *rounds, "cause", "cases")
    of_report = [[row.get(key) for key in keys] for row in made.tables["leaderboard"].rows]
    of_space = leaderboard(dataset).table.rows
    assert [[row.get(key) for key in keys] for row in of_space] == of_report
    assert len(of_report) == len(small_dataset.EDITORS)
    for key in ("cost", "seconds"):
        mine, theirs = ([row[key] for row in rows] for rows in (of_space, made.tables["leaderboard"].rows))
        assert mine == pytest.approx(theirs)


def test_editor_names_are_escaped_and_numbers_stay_numbers(tmp_path):
    hostile = {'<img src=x onerror="alert(1)">': 0.1, "steady & quiet": 0.02}
    made = open_dataset(str(small_dataset.write(tmp_path / "hostile", hostile)))
    text = leaderboard_html(leaderboard(made), made)
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=&#34;alert(1)&#34;&gt;" in text
    assert 'data-value="4.0"' in text
    assert "<img src=x" not in page_files(made)["index.html"].decode()
    assert "<img src=x" not in story(made)


def test_baselines_are_not_counted_as_editors(dataset):
    page = page_files(dataset)["index.html"].decode()
    assert "2 editors, 1 baseline, 2 pictures, 8 tests, 4 baseline tests" in page
    assert set(re.findall(r"(\d+) pictures; (\d+) tests;", page)) == {("2", "8")}  # of the headline
    text = leaderboard_html(leaderboard(dataset), dataset)
    assert ">Baselines, not ranked</th>" in text
    assert ">makes no edits</span>" in text  # not 0.0, which would mean that it tried


def test_an_editor_with_fewer_metrics_is_listed_apart(tmp_path):
    def judge(row, editor, *case):
        return row | {"retained_ssim": None} if editor == "fading" else row

    fewer = open_dataset(str(small_dataset.write(tmp_path / "fewer", judge=judge)))
    board = leaderboard(fewer)
    roles = {row["editor"]: row["role"] for row in board.table.rows}
    assert (roles["fading"], roles["steady"]) == ("editors listed apart", "editors")
    text = leaderboard_html(board, fewer)
    assert ">Editors listed apart</th>" in text
    assert ">not checked, because its scores lack it: SSIM</span>" in text
    fewer.look_alikes, fewer.groups = {"brick": ["a", "b", "c", "d"]}, {}
    emptied = leaderboard(fewer).table
    assert "resemble them: brick (like a, b, c and 1 more)" in emptied.note
    assert emptied.rows == []


def test_two_pictures_give_no_winner_but_a_reason_of_failure(dataset):
    text = story(dataset)
    words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "No verdict: 2 pictures, 12 needed. steady survives 4.0 [0.0, 4.0] of 4 rounds, fading" in words
    assert re.search(r"fails in round \d of 4: LPIPS \d+% < 50%", words.replace("&lt;", "<"))
    assert text.count('class="cb-loss"') == 1  # only the frame of the loss
    assert "edited 1" in words
    assert story(dataset, 4) == text  # a number beyond the last case starts again
    assert ["a typical test" in story(dataset, place) for place in (0, 1)] == [True, False]


def test_the_viewer_shows_costs_words_and_curves_of_a_chain(dataset):
    view = chains.chain(dataset, chain_of(dataset, "fading"))
    step = view["steps"][3]
    assert (step["cost"], step["text"]) == (0.04, "I did it.")
    assert step["reasons"] == {"clip": "there are no weights here"}
    assert list(view["curves"]) == ["rmse", "ssim", "lpips", "damage"]
    long = replace(dataset.step(view["chain"], 3), text="x" * 4001)
    assert chains._step_view(dataset.chain(view["chain"]), long, None)["text"] == "x" * 4000
    shown = [chains.picture(dataset, view["chain"], 3, "difference", *gain)["url"] for gain in ((), (8,))]
    assert shown[0] == shown[1] is not None


def test_the_chain_that_was_asked_for_is_found(dataset):
    picked = {how: dataset.chain_of[chains.pick(dataset, how)].editor for how in ("worst", "longest")}
    assert picked == {"worst": "fading", "longest": "steady"}
    place, of = ("fading", "market", "hat"), {name: SimpleNamespace(run=run) for run, name in enumerate("ab", 1)}
    twice = SimpleNamespace(check_editors=list, runs_of={place: [*of]}, chain_of=of)
    assert [chains.find(twice, "fading", run=run)["chain"] for run in (1, 2, 3)] == ["a", "b", "a"]
    assert chains.find(twice, "fading")["chain"] == "a"
    unscored = SimpleNamespace(check_editors=list, cases=[], groups={}, chains=dataset.chains)
    for name in (chains.pick(dataset, "surprise", "fading"), chains.pick(unscored, "worst", "fading")):
        assert dataset.chain_of[name].editor == "fading"
    assert {chains.pick(unscored, how) for how in ("surprise", "worst")} <= dataset.chain_of.keys()
    nearest = chains.find(dataset, "fading", "market", "nothing of this name")
    assert dataset.chain_of[nearest["chain"]].source.id == "market"
    assert nearest["programs"] == list(small_dataset.PROGRAMS)


@pytest.mark.parametrize(("ask", "words"), [
    (lambda made: leaderboard(made, Choice(threshold=0)), "must be above 0 and at most 1, got 0"),
    (lambda made: leaderboard(made, Choice(threshold=1.001)), "must be above 0 and at most 1, got 1.001"),
    (lambda made: table.which_editor(made, 0), "edits must be at least 1"),
    (lambda made: table.which_editor(made, 1, -0.01), "dollars at least 0"),
    (lambda made: served_dataset.number("a half", 1), "'a half' is not a number"),
    (lambda made: made.step(made.chains[0].id, 9), "its steps are 0 to 8"),
    (lambda made: open_dataset("./nowhere"), "no dataset './nowhere'"),
    (lambda made: open_dataset("nowhere"), "no dataset 'nowhere'"),
    (lambda made: open_dataset(str(made.folder / "data")), "has no data/chains"),
])  # fmt: skip
def test_what_cannot_be_shown_is_refused(dataset, ask, words):
    with pytest.raises(UserError, match=words):
        ask(dataset)
    assert leaderboard(dataset, Choice(threshold=1)).table.rows
    assert [served_dataset.number(text, 0.5) for text in ("", "0.7")] == [0.5, 0.7]
    assert [dataset.title(name) for name in ("market", "nothing")] == ["the market", "nothing"]
    assert dataset.scores_of("no chain") == {}


def test_a_comparison_of_many_rounds_shows_seven_with_the_loss(tmp_path):
    editors = {"steady": 0.02, "third": 0.11, "seventh": 0.0455}  # by the round of the loss
    made = open_dataset(str(small_dataset.write(tmp_path / "long", editors, ("a",), ("hat",), 9)))
    drawing = _compare_figure(made)
    assert len(drawing.figure.axes) == 3 * 9  # with the start and the first edit
    kept_numbers.check("nine rounds", {"drawn": [{"": kept_numbers.of_figure(drawing)}]})


def test_a_comparison_begins_where_most_editors_are(dataset, monkeypatch):
    without = {("fading", "harbour", "hat"), ("fading", "harbour", "lamp"), ("fading", "market", "hat")}
    rest = {place: runs for place, runs in dataset.runs_of.items() if place not in without}
    monkeypatch.setitem(dataset.__dict__, "runs_of", rest)
    made = compare(dataset)
    assert (made["source"], made["program"]) == ("market", "lamp")
    assert made["editors"] == ["steady", "fading", "identity"]  # the best first, baselines last


@pytest.mark.parametrize(("value", "key", "sorted_by"), [
    (None, "x", ""), (3.5, "x", "3.5"), (">10", "x", ">10"), (">10", "x_text", "10.5"), ("(5, 10]", "x_text", "5.0"),
    ("none", "x_text", "0.0"), ("no.", "x_text", "0.0"),
])  # fmt: skip
def test_what_a_column_is_sorted_by(value, key, sorted_by):
    assert table._sort_key(value, key) == sorted_by


def test_a_refusal_is_shown_in_the_editors_words(tmp_path):
    folder = small_dataset.write(tmp_path / "no", answer=lambda editor, step: b"" if step == 4 else None)
    made = open_dataset(str(folder))
    chain = chain_of(made, "steady")
    with pytest.raises(NoPicture, match="not allowed to edit this"):
        Previews(made, tmp_path / "previews").path(chain, 4)
    view = chains.chain(made, chain)
    assert (view["cause"], view["lost_at"], view["steps"][-1]["status"]) == ("refused", 2, "refused")


def test_a_lost_part_is_outlined_in_every_tab(tmp_path):
    def judge(row, editor, *case):
        return small_dataset.lose_a_part(row) if editor == "holed" else row

    editors = {"steady": 0.02, "holed": 0.03, "identity": 0.0}  # the last has no price
    dataset = open_dataset(str(small_dataset.write(tmp_path / "made", editors, judge=judge, roles={})))
    assert [row["editor"] for row in table.which_editor(dataset, 8)["editors"]] == ["steady", "identity", "holed"]
    assert [row["editor"] for row in table.which_editor(dataset, 8, 0.4)["editors"]] == ["holed"]
    assert table.table(dataset, "versus", editors=["steady", "holed"]).count("<li>") == 1
    view = chains.chain(dataset, chain_of(dataset, "holed"))
    assert [step["step"] for step in view["steps"] if step["outline"]] == [6, 8]
    lost = view["steps"][view["lost_step"]]
    assert (lost["outline"], lost["part_lost"]) == (small_dataset.OUTLINE, True)
    outlines = {row["chain"]: row["outline"] for row in failures(dataset)["rows"]}
    assert outlines[view["chain"]] == small_dataset.OUTLINE
    shown = Previews(dataset, tmp_path / "previews")
    places = [
        shown.path(view["chain"], step, "lost", at=f"{view['chain']} {view['lost_step']}") for step in (8, 4)
    ]
    marked, before = (np.asarray(Image.open(place), int) for place in places)
    orange = [(abs(picture - (184, 73, 0)).sum(axis=2) < 60).sum() for picture in (marked, before)]
    assert orange[0] > orange[1] + 200


NAMES = ("steady", "gemini:model=gemini-3-pro", "fading", *"abc", "d:seed=1", "identity", "jpeg:quality=75")
PICTURES = tuple(f"picture-{number:02}" for number in range(13))


def _judged(row, editor, source, program):
    """Scores whose chance comes from the row's place, and gaps, gains and losses of every kind."""
    place = f"{editor} {source} {program} {row['round']} {row['position']}"
    rng = np.random.default_rng(zlib.crc32(place.encode()))
    kept = np.clip(row["ssim"] + rng.normal(0, 0.08, 4), 0, 1)
    row |= {"retained_rmse": kept[0], "retained_ssim": kept[1], "retained_lpips": kept[2], "psnr": 40 * kept[3]}
    if rng.random() < 0.04:
        row |= {"psnr": None, "retained_ssim": None}
        row["reasons"] = '{"psnr": ["absent", "why"], "rmse": "unreadable"}'
    if row["position"] == 1:
        row |= {"edit_changed": bool(rng.random() > 0.05), "edit_as_asked": bool(rng.random() > 0.1)}
    else:
        row |= {"edit_undone": bool(rng.random() > 0.05), "undo_ratio": float(rng.random())}
    if rng.random() < 0.05:
        row |= {"damage": 0.5, "damage_outline": json.dumps({"polygons": small_dataset.OUTLINE})}
    return row | {"framing_loss": float(rng.gamma(1, 0.04)), "colour_shift": float(rng.gamma(2, 1.5))}


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    shown, lost = small_dataset.picture(1), {PICTURES[3]: 3, PICTURES[5]: 6, PICTURES[12]: 1}
    made = small_dataset.write(
        tmp_path_factory.mktemp("wide") / "convergebench", dict(zip(NAMES, np.linspace(0.02, 0.2, 9), strict=True)),
        PICTURES, ("hat", "lamp", "tint"), 3, judge=_judged, roles=dict.fromkeys(NAMES[-2:], "baseline"),
        bytes_of=lambda editor, source, _, step: None if lost.get(source) == step and editor[0] in "afj" else shown,
        categories=("objects", "light"),
    )  # fmt: skip
    return open_dataset(str(small_dataset.let_only_add(made, "tint")))


@pytest.mark.parametrize("choice", [
    {}, {"threshold": 0.7, "kind": "scene"}, {"metric": "quality", "category": "light"},
    {"metric": "lpips", "threshold": 0.8}, {"group": "additions"},
], ids=["first", "scenes", "light", "lpips", "additions"])  # fmt: skip
def test_the_numbers_of_a_wide_dataset(wide, choice):
    asked = {name: choice[name] for name in ("metric", "threshold") if name in choice}
    some = {"editors": [*NAMES[2:9], NAMES[1]]}
    tables = {
        "leaderboard": table.leaderboard(wide, **choice)["rows"],
        "versus": table.leaderboard(wide, **choice)["versus"],
        "chosen": table.leaderboard(wide, **choice, **some)["rows"],
        "texts": [{form: table.table(wide, form, **choice, **some) for form in ("csv", "tex", "versus", "html")}],
        "story": [{place: re.sub(r"scored \d+ \w+ \d+", "", story(wide, place, **choice)) for place in (0, 1, 30)}],
        "compare": [compare(wide, **asked), compare(wide, PICTURES[5], "lamp", **some, **asked)],
        "curves": [curves.curves(wide, name, **{
            "fails_on" if key == "metric" else key: value for key, value in choice.items()})
            for name in ("kept", "quality", "psnr")],
        "pages": [{"": [tab.page_data(wide) for tab in (curves, table)]}],
        "failures": [failures(wide, sort=sort, start=start, most=most, **choice) for sort, start, most in
                     (("first", 0, 24), ("last", 1, 30), ("editor", 24, 5), ("picture", -2, 0))],
        "of one": [failures(wide, NAMES[2], program="hat", **choice), failures(wide, cause="refused", **choice)],
        "chains": [chains.chain(wide, name, **asked) for name in [*wide.chain_of][::40]],
        "picked": [{"": [PICTURES.index(wide.chain_of[chains.pick(wide, how, editor)].source.id)
                         for how in ("worst", "longest") for editor in ("", *NAMES)]}],
        "dollars": [table.which_editor(wide, edits, dollars) for edits in (1, 3, 6, 8) for dollars in (0.0, 0.2)],
        "found": [chains.find(wide, NAMES[1], source, "lamp", 2) for source in (PICTURES[4], "none")],
        "words": [{name: text for name, text in table.words(wide).items() if name != "story"}],
    }  # fmt: skip
    if not choice:
        tables |= {
            f"curves of {name}": curves.curves(wide, name)["curves"] for name in curves.metric_titles(wide)
        }
        tables |= {"about": [table.about(wide)], "json": [{"": table.table(wide, "json")}]}
    kept_numbers.check(f"wide, {choice}", tables)
    assert table.leaderboard(wide, **choice)["title"].startswith("No headline") == ("group" in choice)
    assert all(len(str(row["share"])) <= 6 for row in table.which_editor(wide, 3)["editors"])
    words = {"kind": "only scene", "category": "only light", "metric": " alone", "threshold": "failure threshold"}
    assert [word in story(wide, **choice) for word in words.values()] == [name in choice for name in words]
    if "kind" in choice:
        return
    figures = {f"curves of {name}": curves._curves_figure(wide, name, editors=[*NAMES[2:7]], **{
        "fails_on" if key == "metric" else key: str(value) if key == "threshold" else value
        for key, value in choice.items()}) for name in ("kept", "psnr")}  # fmt: skip
    figures["strips"] = _compare_figure(wide, PICTURES[5], "lamp", [*NAMES[2:5]])
    figures["all"] = None if choice else curves._curves_figure(wide, "quality")
    figures["hero"] = None if choice else table._hero(wide)
    figures["additions"] = _compare_figure(wide, PICTURES[1], "tint", [*NAMES[2:5]])
    kept_numbers.check(f"wide, drawn, {choice}", {
        name: [{"": kept_numbers.of_figure(drawing)}] for name, drawing in figures.items() if drawing
    })  # fmt: skip
