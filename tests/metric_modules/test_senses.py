"""The senses beyond pixels say what their authors say, and nothing where there is nothing to look at."""

import importlib
import io
import json
import sys
import tarfile
import types
import zipfile

import numpy as np
import pytest
from convergebench.generation import packages
from convergebench.metric_modules._shared import networks
from convergebench.metric_modules.dino_similarity import measure as dino
from convergebench.metric_modules.dists import measure as dists
from convergebench.metric_modules.face_identity import measure as faces
from convergebench.metric_modules.ssimulacra import measure as ssimulacra
from convergebench.metric_modules.text_fidelity import measure as texts
from PIL import Image, ImageDraw, ImageFont
from random_lpips import random_tensors
from skimage import data
from test_lpips import trunk

SENSES = {"face_identity": "dlib", "text_fidelity": "rapidocr", "ssimulacra": "ssimulacra2", "dists": "torch"}


@pytest.mark.parametrize("folder", SENSES)
def test_without_its_package_a_sense_says_how_to_install_it(folder, monkeypatch):
    monkeypatch.setattr(networks, "_is_installed", lambda module: False)
    measure = importlib.import_module(f"convergebench.metric_modules.{folder}.measure")
    extra = "score" if folder == "dists" else "senses"
    with pytest.raises(
        FileNotFoundError, match=rf"needs {SENSES[folder]}.*pip install 'convergebench\[{extra}\]'"
    ):
        measure.Scorer("cpu", "float32", {})


def scored(measure, reference, pictures):
    scorer = measure.Scorer("cpu", "float32", {})
    return [next(iter(row.values())) for row in scorer.compare(scorer.prepare(reference), pictures, [])]


# --- face identity


def test_the_person_that_changed_most_counts():
    rows, sure = np.eye(3, 128), np.ones(3)
    two, empty = (rows[:2], sure[:2]), (rows[:0], sure[:0])
    assert faces._compare(two, (rows[1::-1], sure[:2]))["face_distance"] == 0
    one_is_gone = faces._compare(two, (rows[:1], sure[:1]))
    assert one_is_gone["face_distance"] == pytest.approx(2**0.5)
    assert faces._compare((rows[:1], sure[:1]), (rows, sure))["face_distance"] == 0, "a bystander changes nothing"
    unsure = np.array([1.0, 0.1])
    assert faces._compare((rows[:2], unsure), (rows[:1], sure[:1]))["face_distance"] == 0, "it may be a badge"
    assert faces._compare(empty, two) == {"face_distance": "no_face"}
    assert faces._compare(two, empty) == {"face_distance": "face_gone"}


@pytest.mark.weights
def test_face_identity_tells_the_authors_pictures_apart():
    """As tests/test_face_recognition.py of face_recognition 1.3.0 has it, with their tolerance of 0.6."""
    pytest.importorskip("dlib")
    faces.fetch_weights()
    archive = packages.from_python_index("face_recognition==1.3.0", ".tar.gz")
    pictures = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for name in ("obama", "obama2", "obama3", "biden"):
            file = files.extractfile(f"face_recognition-1.3.0/tests/test_images/{name}.jpg")
            pictures[name] = np.array(Image.open(file).convert("RGB"))
    pictures["black"] = np.zeros((64, 64, 3), np.uint8)
    second, third, other, black = scored(faces, pictures.pop("obama"), list(pictures.values()))
    assert max(second, third) <= 0.6 < other
    assert black == "face_gone"


# --- text


def sign(words):
    matplotlib = pytest.importorskip("matplotlib")
    picture = Image.new("RGB", (400, 320), "white")
    font = ImageFont.truetype(matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans.ttf", 30)
    ImageDraw.Draw(picture).text((40, 140), words, font=font, fill="black")
    return np.array(picture)


def test_a_sign_that_reads_otherwise_counts_by_its_characters():
    """The line that rapidocr's authors check their wheels with."""
    pytest.importorskip("rapidocr")
    line = "Hello RapidOCR 123"
    same, changed, blank = scored(texts, sign(line), [sign(line), sign("Hello RapidOCR 128"), sign("")])
    assert (same, changed, blank) == (0, pytest.approx(1 / len(line)), 1)
    assert texts._compare("", line) == {"text_error": "no_text"}


@pytest.mark.parametrize(
    ("before", "after", "count"), [("", "ab", 2), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("abc", "", 3)]
)
def test_edits_are_the_fewest(before, after, count):
    assert texts._edits(before, after) == texts._edits(after, before) == count


# --- SSIMULACRA2


def jpeg(picture, quality):
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=quality, subsampling=0 if quality > 90 else 2)
    return np.array(Image.open(buffer))


def test_ssimulacra2_keeps_its_authors_scale():
    """Cloudinary's words: 50 is the average output of mozjpeg at quality 40, 90 that at quality 95."""
    pytest.importorskip("ssimulacra2")
    crops = [picture()[-256:, -256:] for picture in (data.astronaut, data.coffee, data.chelsea, data.rocket)]
    rows = np.array([scored(ssimulacra, crop, [crop, jpeg(crop, 95), jpeg(crop, 40)]) for crop in crops])
    assert (rows[:, 0] == 100).all()
    assert rows.mean(0)[1:] == pytest.approx([90, 50], abs=8)


# --- DISTS


@pytest.mark.weights
def test_dists_is_the_authors_own_class(monkeypatch):
    """Their code as published, with the trunk handed to it in place of torchvision's download."""
    torch = pytest.importorskip("torch")
    dists.fetch_weights()
    wheel = packages.from_python_index("DISTS_pytorch==0.1", ".whl")
    code = zipfile.ZipFile(io.BytesIO(wheel)).read("DISTS_pytorch/DISTS_pt.py").decode()
    weights = dists.weights.load_weights("vgg")[0]
    layers = trunk("vgg", weights)
    vgg = types.SimpleNamespace(vgg16=lambda pretrained: types.SimpleNamespace(features=layers))
    monkeypatch.setitem(sys.modules, "torchvision", types.SimpleNamespace(models=vgg, transforms=None))
    theirs = {"__name__": "theirs"}
    exec(compile(code, "DISTS_pt.py", "exec"), theirs)  # noqa: S102 - the published file
    network = theirs["DISTS"](load_weights=False)
    heads = torch.load(io.BytesIO(dists.HEADS.load()), weights_only=True)
    network.alpha.data, network.beta.data = heads["alpha"], heads["beta"]
    picture = np.ascontiguousarray(data.coffee()[:160, :224])
    others = [jpeg(picture, 20), np.ascontiguousarray(data.astronaut()[:160, :224]), picture]
    tensor = lambda array: torch.from_numpy(array).permute(2, 0, 1)[None] / 255  # noqa: E731
    expected = [float(network(tensor(picture), tensor(other)).detach()) for other in others]
    assert scored(dists, picture, others) == pytest.approx(expected, abs=1e-5)


def test_dists_of_another_sample_of_a_texture_is_small():
    torch = pytest.importorskip("torch")
    channels = 3 + 64 + 128 + 256 + 512 + 512
    heads = {name: torch.ones(1, channels, 1, 1) for name in ("alpha", "beta")}
    tensors = random_tensors("vgg") | heads
    rng = np.random.default_rng(7)
    one, other = (torch.from_numpy(rng.random((1, 3, 48, 48), np.float32)) for _ in range(2))
    distance = [dists._distance(tensors, one, picture) for picture in (one, other, torch.full_like(one, 0.5))]
    assert distance[0] == pytest.approx(0, abs=1e-5)
    assert distance[0] < distance[1] < distance[2] <= 1
    assert dists._distance(tensors, other, one) == pytest.approx(distance[1], abs=1e-5)


# --- DINO


@pytest.mark.parametrize("kind", ["Dinov2", "DINOv3ViT"])
def test_dino_is_the_cosine_of_the_class_tokens(tmp_path, kind):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(7)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 8,
    }
    sizes |= {"intermediate_size": 64} if kind == "DINOv3ViT" else {}
    network = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**sizes)).eval()
    network.save_pretrained(tmp_path)
    size = {"height": 32, "width": 32}
    head = {"image_processor_type": "ViTImageProcessor", "do_resize": True, "size": size, "do_normalize": True}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(head))
    embed, compare, signature = dino._load("cpu", str(tmp_path))
    pictures = [np.ascontiguousarray(picture()[:32, :32]) for picture in (data.astronaut, data.coffee)]
    rows = []
    for picture in pictures:
        values = torch.from_numpy(picture).permute(2, 0, 1)[None] / 127.5 - 1  # ViT's mean and spread are 0.5
        with torch.inference_mode():
            rows.append(network(pixel_values=values).last_hidden_state[0, 0])
    expected = float(torch.cosine_similarity(*rows, dim=0))
    assert compare(*map(embed, pictures))["dino"] == pytest.approx(expected, abs=1e-5)
    assert compare(embed(pictures[0]), embed(pictures[0]))["dino"] == pytest.approx(1, abs=1e-6)
    assert signature["checkpoint"] == str(tmp_path)
