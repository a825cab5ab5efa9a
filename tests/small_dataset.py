"""A dataset folder of a few small chains, written with the dataset's own schema, for tests of what reads datasets."""

import hashlib
import json
import struct
import zlib
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from convergebench.dataset_builder.dataset import manifest, schema
from convergebench.dataset_builder.dataset.columns import Column, Config
from convergebench.dataset_builder.dataset.rows import CHAINS, FLOORS, STEPS, configs, editor_row, source_row
from convergebench.generation.records import EditorInfo, Source
from convergebench.metric_modules.scores import SCORES
from PIL import Image
from stores import encoded

SIDE = 96
EDITORS = {"steady": 0.02, "fading": 0.16, "identity": 0.0}
ROLES = {"identity": "baseline"}
SOURCES = ("harbour", "market")
PROGRAMS = ("hat", "lamp")
ROUNDS = 4
DETAILS = '{"model": "m-1"}'
SIGNATURE = json.dumps({"small": {"version": 1}})


def picture(seed, noise=0.0, side=SIDE, kind="PNG"):
    """The bytes of a smooth picture, the noisier the larger `noise` from 0 to 1."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 255, (6, 6, 3), dtype=np.uint8))
    values = np.asarray(small.resize((side, side), Image.Resampling.BICUBIC)).astype(float)
    values = values * (1 - noise) + rng.integers(0, 255, values.shape) * noise
    return encoded(Image.fromarray(values.clip(0, 255).astype(np.uint8)), kind)


def digest(data):
    return hashlib.sha256(data).hexdigest() if data else None


def identity(*parts):
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]


def write(
    folder,
    editors=EDITORS,
    sources=SOURCES,
    programs=PROGRAMS,
    rounds=ROUNDS,
    answer=None,
    instruction="add a {}",
    *,
    cases=None,
    bytes_of=None,
    judge=None,
    roles=ROLES,
    kinds=("scene",),
    categories=None,
    kind="png",
    side=SIDE,
):
    """Chains of two-step rounds; `answer(editor, step)` may give other bytes, or None for a refusal at that step.

    `cases` are the sources with programs, otherwise all with all. `bytes_of(editor, source, program, step)` gives all
    bytes, and `judge(row, editor, source, program)` the scores.
    """

    def faded(editor, source, program, step):
        return picture(sources.index(source), min(editors[editor] * ((step + 1) // 2), 0.9))

    bytes_of = bytes_of or faded
    chains, steps, scores = [], {name: [] for name in editors}, []
    about_chain = {"rounds": rounds, "closes": True, "items": "[]", "reversibility": "clear", "small": False}
    about_chain |= {"short_side": side, "policy": "", "suite": "small", "suite_version": "1", "settings": "{}"}
    for source, program in cases or product(sources, programs):
        number, asked = sources.index(source), [instruction.format(program), f"remove the {program}"]
        category = "objects" if program == "hat" else "light"
        if categories:
            category = categories[programs.index(program) % len(categories)]
        for editor, decay in editors.items():
            name, cost = identity(source, program, editor), price_of(editor)
            place = {"chain": name, "editor": editor, "source": source, "program": program, "run": 1}
            for step in range(2 * rounds + 1):
                round, position = (step + 1) // 2, (step - 1) % 2 + 1 if step else 0
                data = bytes_of(editor, source, program, step)
                if answer and step:
                    data = answer(editor, step) or data if answer(editor, step) != b"" else None
                about = place | {"step": step, "round": round, "position": position}
                row = dict.fromkeys(column.name for column in STEPS.columns) | about
                row |= {"status": "input" if not step else "ok" if data else "refused", "seed": 1000 + step}
                row |= {"type": kind, "width": side, "height": side, "bytes": len(data or b"")}
                row |= {"sha256": digest(data), "instruction": "", "text": "I did it.", "details": DETAILS}
                if step:
                    row |= {"instruction": asked[position - 1], "latency": 1 + decay, "cost": cost}
                steps[editor].append(row)
                if not data:
                    row["reason"] = "not allowed to edit this"
                    break
                row["image"] = {"bytes": data, "path": f"{name}-{step}.png"}
                if step:
                    scored = score(about, decay, editor)
                    scores.append(judge(scored, editor, source, program) if judge else scored)
            chain = dict.fromkeys(column.name for column in CHAINS.columns) | about_chain | place
            chain |= {"steps": step, "status": "complete" if data else row["status"], "shows": program}
            chain |= {"kind": kinds[number % len(kinds)], "category": category, "cycle": json.dumps(asked)}
            chains.append(chain | {"source_sha256": "0" * 64, "cost": cost and cost * (step - (not data))})
    data = folder / "data"
    schema.write(data / "chains" / "0000.parquet", CHAINS, chains)
    schema.write(data / "scores" / "0000.parquet", SCORES, scores)
    schema.write(data / "floors" / "0000.parquet", FLOORS, list(floors(sources, side)))
    schema.write(data / "sources" / "0000.parquet", configs()["sources"], list(originals(sources)))
    described = [editor_row(name, EditorInfo(name, roles.get(name, "editor"))) for name in editors]
    schema.write(data / "editors" / "0000.parquet", configs()["editors"], described)
    for number, rows in enumerate(steps.values()):
        schema.write(data / "steps" / f"editor{number}" / "0000.parquet", STEPS, rows)
    return list_files(folder)


def list_files(folder):
    """Have the card list the tables as they are; the dataset's folder."""
    entries = {}
    for path in sorted((folder / "data").rglob("*.parquet")):
        values = schema.values_digest(pq.read_metadata(path))
        entries[path.relative_to(folder).as_posix()] = {"sha256": schema.hash_file(path), "values": values}
    card = folder / manifest.CARD
    new = b"---\ntags:\n- convergebench\nlicense: other\n---\na small dataset for tests\n"
    text = card.read_bytes() if card.exists() else new
    card.write_bytes(manifest.in_card(text, manifest.encode(entries)))
    return folder


# What makes the same chains those of a study.
STUDIES = {
    "replication": {"cycle": '["Copy the picture."]', "category": "replication"},
    "restoration": {
        "cycle": '["Restore it."]',
        "category": "restoration",
        "reference": {"bytes": picture(9), "path": "reference.png"},
    },
    "additions": {"cycle": '["Add an apple."]', "closes": False},
    "steering": {"cycle": '["{next}"]', "closes": False, "category": "steering"},
    "exact edits": {"category": "exact move"},
    "out and back": {"category": "out and back"},
}


def write_study(folder, study, **options):
    return change_chains(write(folder, **options), lambda row: STUDIES[study])


def change_chains(folder, change):
    """Give the chains other values, which `change` returns for a row."""
    path = folder / "data" / "chains" / "0000.parquet"
    schema.write(path, CHAINS, [row | change(row) for row in pq.read_table(path).to_pylist()])
    return list_files(folder)


def price_of(editor):
    """US dollars a call: what lasts costs more, and what does nothing has no price."""
    return {"steady": 0.06, "identity": None}.get(editor, 0.04)


def score(about, decay, editor):
    """Numbers that fall as the editor's decay says; an editor that does nothing applies no edit."""
    kept = max(1 - 1.2 * decay * about["round"], 0.0)
    forward = about["position"] == 1
    row = dict.fromkeys(column.name for column in SCORES.columns) | about
    row |= {"psnr": 15 + 25 * kept, "rmse": 60 * (1 - kept), "ssim": kept, "lpips": 0.7 * (1 - kept)}
    row |= {"retained_rmse": kept, "retained_ssim": kept, "retained_lpips": kept**1.5}
    row |= {"status": "ok", "sha256": "0" * 64, "signature": SIGNATURE, "changed_size": False}
    row |= {"edit_changed": editor != "identity" if forward else None, "edit_undone": None if forward else True}
    reasons = '{"clip": ["absent", "there are no weights here"]}'
    return row | {"damage": 0.0, "retained_damage": 1.0, "reasons": reasons}


OUTLINE = [[[0.25, 0.5], [0.75, 0.5], [0.75, 0.75], [0.25, 0.75]]]


def lose_a_part(row):
    if row["round"] >= 3 and row["position"] == 2:
        row |= {"damage": 0.6, "retained_damage": 0.4, "damage_outline": json.dumps({"polygons": OUTLINE})}
    return row


def judge_without_reference(folder):
    """Gives the scores two no-reference columns: NIQE rises with the damage, MUSIQ sees none of it and has gaps."""
    for path in (folder / "data" / "scores").glob("*.parquet"):
        table = pq.read_table(path)
        rounds, kept = table["round"].to_pylist(), table["ssim"].to_pylist()
        table = table.append_column("niqe", pa.array([4 + 20 * (1 - each) for each in kept]))
        gaps = {3: None, 4: float("nan")}
        table = table.append_column("musiq", pa.array([gaps.get(each, 70.0) for each in rounds], pa.float64()))
        rewrite(path, table)


def rewrite(path, table, listed=True):
    """Write a table of a dataset again, with its columns as they are now and the digests of its values."""
    types = {pa.float64(): "float64", pa.int32(): "int32", pa.int64(): "int64", pa.bool_(): "bool"}
    types |= {pa.string(): "string", schema.IMAGE: "image"}
    columns = [Column(field.name, types[field.type], field.name) for field in table.schema]
    schema.write(path, Config(path.parent.name, "a row", tuple(columns)), table.to_pylist())
    if listed:
        list_files(path.parents[2])


def let_only_add(folder, program="lamp"):
    """Has the chains of one program add something in every step, and take nothing back."""
    changes = {"closes": False, "category": "additions", "shows": f"one more {program}"}
    return change_chains(folder, lambda row: changes if row["program"] == program else {})


def floors(sources, side=SIDE):
    for one in sources:
        for other in [name for name in sources if name != one][:12]:
            for metric, value in (("rmse", 60.0), ("ssim", 0.0), ("lpips", 0.7)):
                about = {"source": one, "other": other, "short_side": side, "metric": metric}
                yield about | {"value": value, "signature": SIGNATURE}


def originals(sources):
    for number, name in enumerate(sources):
        rights = ("CC0-1.0", "drawn by the tests", f"the {name}")
        source = Source(name, "0" * 64, SIDE, SIDE, "scene", "synthetic", *rights)
        yield source_row(source, picture(number), f"{name}.png")


def chain_of(dataset, editor, source="harbour", program="hat"):
    return dataset.runs_of[editor, source, program][0]


def decompression_bomb(side=30_000):
    """A PNG of a few kilobytes that unpacks to as many pixels as its header says: 900 million."""
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = [b"IHDR" + header, b"IDAT" + zlib.compress(bytes((side + 1) * 200), 9), b"IEND"]
    chunks = [struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
