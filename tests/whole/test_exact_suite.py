"""The exact suites from the plan to the report."""

import csv
import json

from convergebench import bench
from convergebench.generation import plan, suites
from convergebench.generation.pictures import decode, pixel_hash
from convergebench.generation.studies.exact import drawn_suites
from verbs import say


def table(folder, name):
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_report_says_who_makes_exact_edits_each_round(tmp_path):
    editors = ("solver", "solver:does=half", "solver:does=other", "identity")
    chosen = [word for editor in editors for word in ("--editor", editor)]
    say("generate", "--suite", "demo-exact", "--scene-seed", 7, *chosen, "--out", tmp_path / "run")
    say("build", tmp_path / "run", "--out", tmp_path / "dataset")
    say("score", tmp_path / "dataset", "--metrics", "psnr,ssim,edit_applied,exact")
    say("report", tmp_path / "dataset", "--out", tmp_path / "report")
    report = tmp_path / "report"
    whole = {row["editor"]: row for row in table(report, "exact_edits") if row["what"] == "all"}
    shares = {editor: (float(row["forward"]), float(row["back"])) for editor, row in whole.items()}
    others = dict.fromkeys(("solver:does=half", "solver:does=other", "identity"), (0, 0))
    assert shares == {"solver": (1, 1)} | others
    assert {row["suites"] for row in whole.values()} == {"demo-exact-seed7"}
    operations = [row["part"] for row in table(report, "exact_edits") if row["what"] == "operation"]
    assert set(operations) == {"move", "add", "recolour", "change-word"}
    assert {row["group"] for row in table(report, "leaderboard")} == {"exact edits"}
    rows = {(row["editor"], row["part"]): row for row in table(report, "exact_edits") if row["what"] == "round"}
    assert {round for _, round in rows} == {"1", "2"}
    assert rows["solver", "2"]["forward"] == rows["solver", "2"]["ready"] == "1.0"
    assert rows["identity", "1"]["said_of_wrong"] == "0.0"
    assert float(rows["solver:does=other", "1"]["said_of_wrong"]) > 0, "something changed, but not as asked"
    assert "solver, made as asked: 100% at round 2" in (report / "index.html").read_text()


def test_a_seed_gives_other_scenes_and_the_same_one_the_same():
    first, again, other = (suites.load(f"exact-mini-seed{seed}") for seed in (5, 5, 6))
    assert first.own_programs == again.own_programs
    hashes = [{suite.source(id).sha256 for id in suite.sources} for suite in (first, other)]
    assert not hashes[0] & hashes[1]
    cycles = [{program.cycle for program in suite.own_programs.values()} for suite in (first, other)]
    assert cycles[0] - cycles[1]


def test_shipped_hashes_are_those_of_the_pictures():
    for suite in map(suites.load, ("demo-exact", "steer")):
        for id in suite.sources:
            assert pixel_hash(decode(suite.read(id))) == suite.source(id).sha256
    shipped = [suites.load(name) for name in drawn_suites.NAMES]  # no hash, and listing the suites draws
    assert {f"{id}@{suite.short_side}" for suite in shipped for id in suite.sources} == {*drawn_suites._hashes()}


def test_exact_suites_are_as_large_and_dear_as_promised():
    names = ("gemini", "openai", "bfl", "seedream", "qwen", "xai")
    words = [word for name in names for word in ("--editor", name)]
    rows = json.loads(say("plan", "--suite", "exact-mini", *words, "--json"))["editors"]
    assert len(rows) == 6
    assert all(0 < row["dollars"] < 10 for row in rows)
    made = plan.make_plan(suites.load("exact"), ["solver"])
    assert {chain.rounds for chain in made.chains} == {10}
    assert len(made.chains) == len({(chain.source.id, chain.program.id) for chain in made.chains}) == 240


def test_the_demo_draws_two_scenes_beside_its_pictures(monkeypatch):
    asked = {}
    monkeypatch.setattr("convergebench.bench.run", lambda *words, **options: asked.update(options))
    monkeypatch.setattr("convergebench.metric_modules.lpips.weights.fetch_weights", lambda *words: None)
    bench.demo(quiet=True)
    assert asked["beside"] == ("demo-exact",)
    assert len(suites.load("demo-exact").sources) == 2
