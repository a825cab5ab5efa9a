"""Every metric says in its folder what it is, and the scores' columns follow from that."""

import ast
import dataclasses
import json
import sys
from pathlib import Path

import kept_numbers
import pytest
from convergebench.metric_modules import scores, specs
from convergebench.metric_modules.scores import Missing

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[2] / "metric_modules").glob("*/README.md"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_spec_is_plain_data(folder):
    tree = ast.parse((folder / "spec.py").read_text())
    [assigned] = [node for node in tree.body if not isinstance(node, ast.Expr)]
    assert assigned.targets[0].id == "SPEC"
    given = ast.literal_eval(assigned.value)
    assert specs.specs()[given["name"]].folder == folder.name
    assert bool(given.get("columns")) == (given.get("kind") != "statistic")
    for code, (fault, sentence) in given.get("reasons", {}).items():
        assert code.isidentifier()
        assert fault in specs.FAULTS
        assert sentence


def test_the_numbers_of_every_column():
    columns = [dataclasses.asdict(column) for spec in specs.specs().values() for column in spec.columns]
    numbers = ("low", "high", "ceiling", "floor", "bfloat16_error")
    kept_numbers.check("specs", {"columns": [{name: column[name] for name in numbers} for column in columns]})


def test_specs_agree_on_their_order_and_on_reasons():
    order = list(specs.specs())
    for spec in specs.specs().values():
        assert all(order.index(name) < order.index(spec.name) for name in spec.after)
    meant = {}
    for spec in specs.specs().values():
        for code, meaning in spec.reasons.items():
            assert code not in scores.OF_THE_ENGINE
            assert meant.setdefault(code, meaning) == meaning


def test_a_missing_value_says_why_and_whose_fault_it_is():
    refused, symmetric = Missing("refused", "it would rather not"), Missing("symmetric")
    values = {"psnr": 30.0, "ssim": refused, "edit_changed": symmetric}
    row = {"reasons": scores.reasons_json(values)}
    assert json.loads(row["reasons"]) == {"edit_changed": "symmetric", "ssim": ["refused", "it would rather not"]}
    assert scores.missing_values(row) == {"ssim": refused, "edit_changed": symmetric}
    assert (refused.sentence, refused.fault) == ("refused: it would rather not", "editor")
    assert symmetric.fault == "nobody"
    not_asked = "not asked for; `convergebench score --metrics lpips` adds it"
    assert Missing("not_asked", "lpips").sentence == not_asked
    assert Missing("a code of another version").sentence == "a code of another version"
    damaged = {code for code in scores.OF_THE_ENGINE if Missing(code).is_damage}
    assert damaged == {"missing", "unreadable", "not_a_number"}


def test_a_signature_is_structured_and_prose_only_for_readers():
    signature = {"engine": {"version": 1, "size": "64x48"}, "psnr": {"version": 1, "ceiling": 100.0}}
    assert scores.signature_of({"signature": json.dumps(signature)}) == signature
    assert scores.signature_texts(signature) == ["engine/1 size=64x48", "psnr/1 ceiling=100"]
    assert scores.signature_of({"signature": "psnr/1 ceiling=100 | ssim/1"}) == {}


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"kind": "odd"}, "kind must be one of 'picture', 'round', 'statistic', got 'odd'"),
        ({"title": 3}, "title must be one of str, got 3"),
        ({"colour": "red"}, "no key 'colour'; the keys are name, title, "),
        ({"columns": [{"name": "a", "title": "A", "meaning": "a", "show": "all"}]}, "a: show must be one of"),
    ],
)
def test_a_spec_with_a_wrong_key_or_value_is_refused(tmp_path, monkeypatch, change, refusal):
    given = {"name": "odd", "title": "Odd", "kind": "picture"} | change
    module = type(sys)("convergebench.metric_modules.odd.spec")
    module.SPEC = given
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "spec.py").write_text("")
    monkeypatch.setattr(specs, "__file__", str(tmp_path / "specs.py"))
    with pytest.raises(ValueError, match=refusal):
        specs.specs.__wrapped__()
