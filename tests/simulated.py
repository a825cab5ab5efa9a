"""Score tables made up with a known truth, row by row as the dataset has them."""

import hashlib
import json
from itertools import permutations
from types import SimpleNamespace

import numpy
from convergebench.dataset_builder.dataset.rows import ChainRow

FLOORS = {"rmse": 100.0, "ssim": 0.2, "lpips": 0.8, "clip": 0.5}
CEILINGS = {"rmse": 0.0, "ssim": 1.0, "lpips": 0.0, "clip": 1.0}
ROLES = {"identity": "baseline", "jpeg": "transport"}  # what editors of these names say of themselves
CYCLE = ["add a hat", "remove the hat"]
SIGNATURE = json.dumps({"engine": {"version": 1, "size": "512x512"}, "simulated": {"version": 1}})


def kept_rounds(generator, editors, sources, programs, rounds, interaction=0.5, noise=0.3, level=6.0):
    """Rounds kept by editor, source and program; `editors` gives each one's factor, the rest is chance."""
    factors = numpy.log(list(editors.values()))[:, None, None]
    picture = generator.normal(0, 0.3, (1, sources, 1)) + generator.normal(0, 0.2, (1, 1, programs))
    own = generator.normal(0, interaction, (len(editors), sources, 1))
    rest = generator.normal(0, noise, (len(editors), sources, programs))
    lasting = numpy.floor(level * numpy.exp(factors + picture + own + rest))
    return dict(zip(editors, numpy.clip(lasting, 0, rounds).astype(int), strict=True))


def retained(kept, round, rounds):
    return 0.55 + 0.4 * (1 - round / (rounds + 1)) if round <= kept else max(0.0, 0.45 - 0.02 * (round - kept))


def chain_row(editor, source, program, rounds, status="complete", **more):
    name = hashlib.sha256(f"{editor} {source} {program}".encode()).hexdigest()[:16]
    about = {"closes": True, "reversibility": "clear", "short_side": 512, "settings": "{}"}
    about |= {"suite": "simulated", "suite_version": "1", "cycle": json.dumps(CYCLE), "run": 1}
    about |= {"chain": name, "editor": editor, "source": f"picture-{source:02}", "program": f"program-{program}"}
    about |= {"rounds": rounds, "steps": 2 * rounds, "status": status}
    kind, category = ("face", "scene", "object")[source % 3], ("accessories", "scene objects")[program % 2]
    return about | {"kind": kind, "category": category, **more}


def score_rows(chain, kept, clip=True, cause="quality lost"):
    """The steps of one chain that keeps so many rounds and is then lost to a cause."""
    rows = []
    for round in range(1, chain["rounds"] + 1):
        lost = round > kept
        value = retained(kept if cause == "quality lost" else chain["rounds"], round, chain["rounds"])
        for position in (1, 2):
            row = {name: chain[name] for name in ("chain", "editor", "source", "program", "run")}
            row |= {"step": 2 * (round - 1) + position, "round": round, "position": position, "status": "ok"}
            row |= {name: CEILINGS[name] + (1 - value) * (FLOORS[name] - CEILINGS[name]) for name in FLOORS}
            row |= {f"retained_{name}": value for name in FLOORS}
            if not clip:
                row |= {"clip": None, "retained_clip": None}
            gone = 0.6 if lost and cause == "part lost" else 0.0
            row |= {"psnr": 20 + 20 * value, "damage": gone, "retained_damage": 1 - gone}
            row["edit_changed"] = (not (lost and cause == "not changed")) if position == 1 else None
            row["edit_undone"] = (not (lost and cause == "not undone")) if position == 2 else None
            rows.append(row | {"reasons": "{}", "signature": SIGNATURE})
    return rows


def end_chain(chain, rows, round, position=2, status="refused"):
    """The same chain, ended in a step of that round."""
    last = 2 * (round - 1) + position
    scored = ("retained", "edit", "lpips", "damage", "psnr", *FLOORS)
    blank = {name: None for name in rows[0] if name.startswith(scored)}
    cut = [row for row in rows if row["step"] < last]
    cut += [row | blank | {"status": status} for row in rows if row["step"] == last]
    return chain | {"status": status, "steps": last}, cut


def floor_rows(sources):
    names = [f"picture-{source:02}" for source in range(sources)]
    fixed = {"short_side": 512, "signature": SIGNATURE}
    return [
        {"source": one, "other": other, "metric": metric, "value": value, **fixed}
        for one, other in permutations(names, 2)
        for metric, value in FLOORS.items()
    ]


def dataset(editors, sources=14, programs=3, rounds=12, seed=0, missing=None, clip=True, interaction=0.3):
    """Scores, chains and floors of editors with known factors; `missing` drops that share of an editor's cases."""
    generator = numpy.random.default_rng(seed)
    kept = kept_rounds(generator, editors, sources, programs, rounds, interaction)
    chains, scores = [], []
    for editor in editors:
        for source in range(sources):
            for program in range(programs):
                if generator.random() < (missing or {}).get(editor, 0):
                    continue
                chain = chain_row(editor, source, program, rounds)
                chains.append(chain)
                scores += score_rows(chain, int(kept[editor][source, program]), clip)
    return scores, chains, floor_rows(sources)


def finished(chains):
    """Such rows of chains as the records that a dataset's reader makes of them."""
    unsaid = {"items": "[]", "shows": "", "small": False, "cost": None, "source_sha256": ""}
    records = []
    for row in chains:
        settings = {"short_side": row["short_side"]} | json.loads(row["settings"])
        records.append(ChainRow.from_values({**unsaid, **row, "settings": json.dumps(settings)}).record())
    return records


def report(scores, chains, floors=(), calls=(), published=(), **options):
    from convergebench.spaces_app.analysis.analysis import Analysis
    from convergebench.spaces_app.statistics import compute_tables

    analysis = Analysis(scores, finished(chains), floors, calls, ROLES, {"published": published}, **options)
    return SimpleNamespace(analysis=analysis, tables=compute_tables(analysis))
