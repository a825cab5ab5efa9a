"""A submission is believed by nobody: what is altered is refused with its own sentence, the honest one accepted."""

import io
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import scored
import stores
from convergebench.cli.studies.submissions import _again
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import manifest, schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import STEPS, configs
from convergebench.dataset_builder.studies.submissions import submission
from convergebench.generation import editors, generate, suites
from convergebench.generation.plan import make_plan
from convergebench.generation.records import FinishedChain, UserError
from convergebench.generation.studies.submissions import suite_cases
from convergebench.metric_modules.studies.submissions.recompute import Recomputed
from convergebench.spaces_app.reporting.write import read_analysis
from hub_fixtures import REPO
from PIL import Image
from verbs import invoke as run

pytest_plugins = ["hub_fixtures"]

METRICS = "psnr,ssim,edit_applied,honesty"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submit")
    generate(["jpeg:quality=40"], "smoke", folder / "run", quiet=True)
    told = run("submit", folder / "run", "--out", folder / "submission", "--metrics", METRICS)
    assert told.exit_code == 0, told.stderr
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made / "submission", tmp_path / "submission")
    return tmp_path / "submission"


def verified(folder, *words):
    """What verify-submission says first of a folder that it refuses."""
    told = run("verify", folder, *words)
    assert told.exit_code == (1 if told.stderr else 0)
    return told.stderr.partition("\n")[0]


def alter(folder, config, change, hashes=True):
    """Change the rows of a config; whoever also brings every hash along leaves no hash that differs."""
    reader = Reader(folder)
    [file] = reader.files(config)
    rows = list(reader.rows(config))
    about = STEPS if config == "steps" else schema.config_of(reader.footer(file), config)
    rows = change(rows) or rows
    _, entry = schema.write(folder / file, about, rows)
    if hashes:
        manifest.expect(folder, {file: entry})
        card.write(folder, configs())
        submission.write(folder)


def with_other_pixel(data):
    pixels = np.array(Image.open(io.BytesIO(data)).convert("RGB"))
    pixels[5, 7, 1] ^= 1
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def change_a_pixel(rows):
    data = with_other_pixel(rows[2]["image"]["bytes"])
    rows[2] |= {"image": {"bytes": data, "path": "0002.png"}, "type": "png", "bytes": len(data)}
    rows[2] |= {"sha256": scored.hashlib.sha256(data).hexdigest()}


def swap(names):
    def change(rows):
        first, second = (next(n for n, row in enumerate(rows) if row["step"] == step) for step in (2, 4))
        for name in names(rows[first]):
            rows[first][name], rows[second][name] = rows[second][name], rows[first][name]

    return change


def test_an_honest_submission_is_accepted_with_its_seeded_sample(folder):
    told = run("verify", folder, "--sample", 2, "--seed", "of today")
    assert told.exit_code == 0, told.stderr
    assert "accepted. 2 of 4 chains (8 pictures) and the floors of 2 pictures were computed again" in told.stdout
    assert "with seed of today: edit_applied, honesty, psnr, ssim" in told.stdout
    assert "if a tenth of its chains were altered, it would be accepted with probability 0.5" in told.stdout
    words = ("verify", folder, "--sample", 2, "--json", "--seed")
    today, other = (json.loads(run(*words, f"of {day}").stdout)["again"] for day in ("today", "another day"))
    assert today["sampled"] != other["sampled"]


def test_a_changed_file_is_refused_by_its_hash(folder):
    alter(folder, "steps", change_a_pixel, hashes=False)
    assert "steps/jpeg-quality-40/0000.parquet is not the file that was submitted" in verified(folder)


def first(column, value):
    return lambda rows: rows[0].update({column: value})


def begin_with_less(rows):
    data = with_other_pixel(stores.picture(3, (128, 128)))
    rows[0] |= {"image": {"bytes": data, "path": "0000.png"}, "bytes": len(data)}
    rows[0] |= {"sha256": scored.hashlib.sha256(data).hexdigest(), "width": 128, "height": 128}


PLACE = {"chain", "step", "round", "position"}
OF_PICTURE = {"image", "sha256", "bytes", "type", "width", "height"}
SWAPPED_STEPS = swap(lambda row: row.keys() - PLACE - {"instruction"})
SWAPPED_PICTURES = swap(lambda row: row.keys() & OF_PICTURE)
SWAPPED_SCORES = swap(lambda row: row.keys() - PLACE - {"status", "program", "source", "editor", "run"})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([("steps", change_a_pixel)], "step 2, has scores of another picture or status"),
        ([("scores", first("psnr", 31.5))], "step 1: psnr is 31.5 in the scores and "),
        ([("scores", first("retained_rmse", 31.5))], "step 1: retained_rmse is 31.5 in the scores and "),
        ([("floors", first("value", 31.5))], "retained_rmse is "),
        ([("steps", SWAPPED_STEPS)], "step 2: its seed is that of step 4, so it was not made in this place"),
        ([("steps", SWAPPED_PICTURES), ("scores", SWAPPED_SCORES)], "from its picture"),
        ([("steps", begin_with_less)], "does not begin with its source"),
    ],
)
def test_what_is_altered_is_refused_despite_new_hashes(changes, sentence, folder):
    for config, change in changes:
        alter(folder, config, change)
    assert sentence in verified(folder)


def test_a_changed_pixel_is_refused_by_scores(folder):
    alter(folder, "steps", change_a_pixel)
    hashes = {(row["chain"], row["step"]): row["sha256"] for row in Reader(folder).rows("steps")}
    alter(folder, "scores", lambda rows: [row | {"sha256": hashes[row["chain"], row["step"]]} for row in rows])
    said = verified(folder)
    assert ("step 2: psnr is " in said, "from its picture" in said) == (True, True)


def test_one_case_left_out_is_refused_by_its_name_and_costs_the_rank(made, tmp_path):
    shutil.copytree(made / "run", tmp_path / "run")
    chains = {chain.program.id: chain for chain in Reader(made / "submission").chains()}
    shutil.rmtree(tmp_path / "run" / "chains" / chains["red-ball"].id)
    told = run("submit", tmp_path / "run", "--out", tmp_path / "less", "--metrics", METRICS)
    assert told.exit_code == 2
    sentence = "lacks 1 of the 4 cases of suite smoke 1, such as "
    assert f"this would not be accepted: jpeg:quality=40 {sentence}" in told.stderr
    assert sentence in verified(tmp_path / "less")
    [reasons] = read_analysis(Reader(stores.built(tmp_path / "dataset", tmp_path / "run"))).apart.values()
    assert reasons == ("1 of its 4 planned chains are missing",)
    assert not read_analysis(Reader(made / "submission")).apart


@pytest.mark.parametrize(
    ("suite", "version", "sentence"),
    [
        ("test", "1", "no suite 'test'; a submission must be of one of "),
        ("smoke", "1", "is not a case of suite smoke 1: its picture, words,"),
        ("smoke", "7", "suite smoke is version '7' in the chains, and version '1' here"),
        ("exact-mini-seed7", "1", "is not a case of suite exact-mini-seed7 1"),
        ("mine.toml", "1", "no suite 'mine.toml'"),
    ],
)
def test_a_foreign_suite_and_a_foreign_case_are_refused(suite, version, sentence, tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text('programs = ["red-ball"]\nsources = ["chelsea"]\n')
    monkeypatch.chdir(tmp_path)
    foreign = Reader(stores.built(tmp_path / "foreign", scored.runs(tmp_path / "run"))).chains()
    chains = [replace(chain, suite=suite, suite_version=version) for chain in foreign]
    assert sentence in suite_cases.departures(chains)[0]


def finished(suite, seed="per-step", **options):
    """The chains that a suite asks of somebody's editor, as a dataset would hold them."""
    named = {"name": "mine", "version": "1", "seed": seed}
    choice = editors.own_choice(lambda image, words: image, "", named)
    chains = make_plan(suite, [choice], **options).chains
    return [FinishedChain(c.id, c, suite.name, suite.version, "complete", 1, None) for c in chains]


def test_a_suite_with_variants_needs_those_its_editor_supports():
    suite = suites.load("banana100")
    [variant] = [variant for variant in suite.variants if variant.name == "fixed seed"]
    fixed = replace(suite, variants=(replace(variant, settings={}),))
    plain = finished(suite)
    for of_editor in (plain, finished(fixed, "fixed")):
        assert of_editor
        assert not [*suite_cases._departures_of_editor(suite, of_editor)]
    less = [chain for chain in plain if (chain.program.id, chain.run) != ("mirror-twice", 3)]
    assert "lacks 2 of the" in next(suite_cases._departures_of_editor(suite, less))


def test_an_audit_that_was_left_out_is_refused():
    assert "marks was due" in suite_cases.departures(finished(suites.load("v1-mini"), audit=False))[0]
    assert not suite_cases.departures(finished(suites.load("v1-mini")))


def test_submitting_is_a_pull_request(hub, api, folder, monkeypatch, made):
    monkeypatch.setattr("convergebench.cli.studies.submissions.submit.hub_client", lambda quiet: api)
    monkeypatch.setattr("huggingface_hub.HfApi", lambda **words: api)
    api.create_repo(REPO, repo_type="dataset")
    words = ["submit", made / "run", "--out", folder, "--metrics", METRICS, "--repo", REPO]
    assert "--propose would open a pull request, with 8 files" in run(*words).stdout
    assert list(hub.store.repo("dataset", REPO).branches) == ["main"]
    assert f"a pull request is open at {hub.url}/" in run(*words, "--propose").stdout
    name = json.loads((folder / "submission.json").read_text())["name"]
    there = hub.store.contents("dataset", REPO, "refs/pr/1")
    assert json.loads(there[f"submissions/{name}/submission.json"])["name"] == name
    told = run("verify", name, "--repo", REPO, "--revision", "refs/pr/1")
    assert told.exit_code == 0, told.stderr
    told = run("verify", name, "--repo", REPO)
    assert told.exit_code == 2
    assert told.stderr == f"Error: {REPO} has no submission {name!r}; it has none\n"


def test_an_accepted_submission_unpacks_to_the_same_bytes(made, folder, tmp_path):
    told = run("verify", folder, "--sample", 1, "--unpack", tmp_path / "run")
    assert "4 chains were copied" in told.stdout
    again = Reader(stores.built(tmp_path / "again", tmp_path / "run"))
    for file in set(again.data_files()) - set(again.files("editors")):
        assert (tmp_path / "again" / file).read_bytes() == (folder / file).read_bytes(), file
    [apart] = read_analysis(again).apart.values()
    assert apart == (submission.SELF_REPORTED,)


def test_what_was_retried_travels_with_the_submission(made, folder):
    chain = next((made / "run" / "chains").iterdir())
    (chain / ".retried.jsonl").write_text('{"status": "refused"}\n{"status": "failed"}\n')
    try:
        facts = submission.facts_of_runs([made / "run"])
    finally:
        (chain / ".retried.jsonl").unlink()
    (folder / submission.FILE).write_text(json.dumps(submission.read(folder) | facts))
    assert facts["retried"] == {chain.name: [{"status": "refused"}, {"status": "failed"}]}
    assert json.loads(run("verify", folder, "--sample", 1, "--json").stdout)["retried"] == 2


def test_the_best_of_several_attempts_is_found_by_asking_again(folder):
    """The smoke suite has too few pictures to tell, so the asked chains' similarities stand for more of them."""
    asked, wrong = _again.ask_again(folder, 1.0, "seed")
    assert (asked, wrong) == (4, [])  # jpeg answers as it answered
    chains = [stores_chain("x:version=1", f"picture {number}") for number in range(8)]
    anew = {chain.id: 20.0 + number / 10 for number, chain in enumerate(chains)}
    better = {id: value + 6 for id, value in anew.items()}
    assert _again._better(chains, better, anew)
    assert not _again._better(chains, anew, anew)
    assert not _again._better(chains, anew, better)


@pytest.mark.parametrize("name", ["gpt-image-2", "GPT-Image-2", "flux-2-pro"])
def test_the_name_of_a_hosted_model_is_its_vendors(name):
    with pytest.raises(UserError, match="is a model of"):
        editors.own_choice(lambda image, words: image, "", {"name": name, "version": "1"})
    assert "has the name of a model of" in departures_of(stores_chain(f"{name}:version=1"))[0]


def departures_of(*chains):
    return [*suite_cases._departures_of_editor(suites.load("smoke"), chains)]


def test_two_editors_of_one_name_or_without_the_salt_are_refused():
    wrong = departures_of(stores_chain("x"), stores_chain("x", temperature=1))
    assert any("2 different settings" in sentence for sentence in wrong)
    [sentence] = suite_cases._audit_departures([stores_chain("somebodys:version=1")], b"a salt of enough bytes")
    assert "without the salt" in sentence


def test_what_cannot_be_submitted_is_one_sentence(made, tmp_path):
    def edit(image, instruction, seed):
        return image

    generate(edit, "smoke", tmp_path / "run", version="1", quiet=True)
    stores.write(tmp_path / "taken" / "submission.json", "theirs")
    taken = ("--out", tmp_path / "taken", "--metrics", METRICS)
    for run_folder, words, sentence in (
        (made / "run", ("--metrics", "psnr,ssim,edit_applied"), "was scored without honesty"),
        (tmp_path / "run", ("--metrics", METRICS), "own process"),
        (made / "run", taken, "submission.json was not written by this benchmark"),
        (tmp_path, ("--propose",), "say where by --repo"),
    ):
        told = run("submit", run_folder, "--out", tmp_path / "new", *words)
        assert (told.exit_code, sentence in told.stderr) == (2, True), told.stderr
    [kept] = (tmp_path / "taken").iterdir()
    assert (kept.name, kept.read_text()) == ("submission.json", "theirs")
    told = run("verify", "submission", tmp_path)
    assert f"{tmp_path} is not a submission: it has no submission.json" in told.stderr


def test_the_reach_of_a_sample_is_the_hypergeometric_probability():
    assert Recomputed(100, ["x"] * 20).passes_unseen(0.1) == pytest.approx(0.0951, abs=1e-4)
    assert Recomputed(4, ["x"] * 4).passes_unseen(0.1) == 0


def test_a_submission_answers_a_challenge_or_is_self_reported(made, tmp_path):
    def drawn(editor):
        told = run("challenge", "new", editor, "--suite", "smoke", "--out", tmp_path, "--json")
        return json.loads(told.stdout)["file"]

    def found(*words):
        return json.loads(run("verify", made / "submission", "--sample", "1", "--json", *words).stdout)

    label = submission.read(made / "submission")["editors"][0]
    assert found()["standing"] == submission.SELF_REPORTED
    assert found("--salt-file", drawn(label))["standing"].startswith("answers challenge")
    other = found("--salt-file", drawn("another"))
    assert not other["accepted"]
    assert "the challenge is for another" in other["wrong"][0]
    assert drawn(label) != drawn(label)


def stores_chain(editor, source="source-1", **settings):
    chain = stores.chain(editor)
    chain = replace(chain, settings={**chain.settings, **settings}, source=replace(chain.source, id=source))
    return FinishedChain(chain.id, chain, "smoke", "1", "complete", 2, None)
