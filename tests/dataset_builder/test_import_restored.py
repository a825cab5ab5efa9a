"""A folder of restored pictures is imported as a method and stands beside others in the report."""

import json

import pytest
import small_dataset
import verbs
from convergebench import spaces_app
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules.scores import missing_values
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.statistics import compute_tables

CLEAN = ("harbour", "market", "tower")


def invoke(*words, code=0):
    done = verbs.invoke(*words)
    assert done.exit_code == code, done.output
    return done


def write(folder, pictures):
    folder.mkdir(parents=True)
    for name, data in pictures.items():
        (folder / f"{name}.png").write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two methods on six degraded pictures of three clean ones and on one real photograph without a clean one."""
    base = tmp_path_factory.mktemp("methods")
    names = {f"{name}~{kind}": place for place, name in enumerate(CLEAN) for kind in ("motion-blur", "old-film")}
    clean = write(base / "clean", {name: small_dataset.picture(place) for place, name in enumerate(CLEAN)})
    inputs = {name: small_dataset.picture(place, 0.3) for name, place in names.items()}
    degraded = write(base / "degraded", inputs | {"attic": small_dataset.picture(9, 0.3)})
    inputs_table = base / "about.csv"
    rows = "".join(f"{name},crowd,\n" for name in names)
    inputs_table.write_text("name,scene,degradation\n" + rows + "attic,,old photo\n")
    for method, noise in (("sharp", 0.05), ("dull", 0.2)):
        restored = {name: small_dataset.picture(place, noise) for name, place in names.items()}
        folder = write(base / method, restored | {"attic": small_dataset.picture(9, noise), "stray": b"?"})
        words = ["--editor", method, "--inputs", degraded, "--clean", clean, "--about", inputs_table]
        done = invoke("import", folder, "--layout", "restored", *words, "--out", base / "runs" / method)
        assert "7 chains imported" in done.output
        assert "has the name of no degraded picture" in done.stderr
    invoke("build", base / "runs" / "sharp", base / "runs" / "dull", "--out", base / "dataset")
    invoke("score", base / "dataset", "--metrics", "psnr,ssim,piqe")
    return base / "dataset"


def test_methods_are_compared_only_over_clean_pictures(dataset):
    tables = compute_tables(read_analysis(Reader(dataset)))
    rows = {row["editor"]: row for row in tables["restoration_methods"].rows}
    assert rows["sharp"]["psnr"] > rows["dull"]["psnr"] + 5
    assert rows["sharp"]["best_in"].startswith("PSNR, SSIM")
    assert (rows["sharp"]["pictures"], rows["sharp"]["clean"], rows["sharp"]["prompt"]) == (7, 4, None)
    scenes = {(row["slice"], row["editor"]): row for row in tables["restoration_scenes"].rows}
    assert scenes["crowd", "sharp"]["clean"] == 3
    reader = Reader(dataset)
    attic = {chain.id for chain in reader.chains() if chain.source.title == "attic"}
    rows = [row for row in reader.rows("scores") if row["chain"] in attic]
    assert len(rows) == 2
    for row in rows:
        assert row["psnr"] is row["ssim"] is row["retained_rmse"] is None
        assert missing_values(row)["psnr"].code == "no_clean_picture"
        assert row["piqe"] > 0


def test_the_report_shows_typical_restored_pictures(dataset, tmp_path):
    spaces_app.report(dataset, tmp_path / "report")
    shown = compute_tables(read_analysis(Reader(dataset)))["restoration_pictures"].rows
    typical = {row["degradation"]: (row["of_pictures"], row["by"]) for row in shown}
    assert typical == {"motion-blur": (3, "psnr"), "old-film": (3, "psnr"), "old photo": (1, "piqe")}
    page = (tmp_path / "report" / "index.html").read_text()
    section = page.partition('id="restoration"')[2].partition("</section>")[0]
    strips = section.split('<div class="strip">')[1:]
    assert [strip.count("<img ") for strip in strips] == [3 + ("attic" not in strip) for strip in strips]
    assert sum("not known" in strip for strip in strips) == 1  # of the photograph without a clean one


def test_a_picture_that_was_not_restored_is_named(tmp_path):
    picture = small_dataset.picture(1)
    degraded = write(tmp_path / "degraded", {"a": picture, "b": picture})
    folder = write(tmp_path / "mine", {"a": picture})
    words = ["--layout", "restored", "--editor", "mine", "--inputs", degraded, "--out", tmp_path / "run"]
    done = invoke("import", folder, *words, "--json", code=1)
    assert "b.png" in json.loads(done.stdout.splitlines()[-1])["problems"][0]["where"]
    none = invoke("import", write(tmp_path / "other", {"x": picture}), *words, code=2)
    assert "has no picture with the name of a degraded one, such as a.png" in none.output
    assert "no --inputs given" in invoke("import", folder, "--layout", "restored", "--editor", "m", code=2).output


@pytest.mark.slow
def test_a_suites_own_pictures_keep_their_ids(tmp_path, monkeypatch):
    from convergebench.generation import suites

    values = {"title": "r", "version": "1", "short_side": 128, "rounds": 1, "runs": 1}
    values |= {"sources": ["painted-text~old-film"], "programs": ["restore-s1"]}
    restored = suites.from_values("restoration", values)
    monkeypatch.setattr(suites, "load", lambda name: restored)
    listed = ["list", "sources", "restoration", "--inputs", tmp_path / "degraded", "--out", tmp_path / "cache"]
    invoke(*listed)
    words = ["--layout", "restored", "--editor", "nothing", "--suite", "restoration"]
    invoke("import", tmp_path / "degraded", *words, "--out", tmp_path / "run")
    invoke("build", tmp_path / "run", "--out", tmp_path / "dataset")
    [chain] = Reader(tmp_path / "dataset").chains()
    assert chain.source == restored.source("painted-text~old-film")
    assert (chain.source.scene, chain.source.degradation, chain.short_side) == ("text", "old-film", 128)
    theirs = tmp_path / "degraded" / "painted-text~old-film.png"
    invoke(*listed)  # the same again
    theirs.write_bytes(b"theirs")
    assert f"{theirs} was not written by this benchmark" in invoke(*listed, code=2).output
    assert theirs.read_bytes() == b"theirs"
