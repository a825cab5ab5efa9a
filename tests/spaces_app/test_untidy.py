"""The numbers of everything the report says of chains as untidy as real ones, with each kind of gap, end and limit."""

import json
from itertools import product

import kept_numbers
import numpy as np
import pytest
from convergebench.spaces_app.analysis import reasons
from convergebench.spaces_app.analysis.cases import checks_left_out, spread_rounds
from convergebench.spaces_app.analysis.floors import excluded_text
from convergebench.spaces_app.analysis.groups import account_for
from convergebench.spaces_app.reporting import sentences
from convergebench.spaces_app.reporting.page import make_sections
from simulated import CEILINGS, FLOORS, SIGNATURE, chain_row, report

CYCLES = {
    0: ("add a hat", "remove the hat"),
    1: ("add a hat", "add a scarf", "remove the hat", "remove the scarf"),
    2: ("make it night", "make it day"),
    3: ("copy the picture",),
}
EDITORS = ("gemini:model=gemini-3-pro", "flux:seed=7", "my:quality=high")
EDITORS += ("vae:model=x", "jpeg:quality=75", "identity")
CATEGORIES = ("accessories", "out and back", "tone", "replicate")
CODES = ("something_else", "symmetric", "words_not_checked", "unreadable", "not_asked", "ends_no_round")


def untidy(seed, sources, rounds, gaps):
    """Rows of scores, chains, floors and calls; `gaps` is the share of values that are missing."""
    rng = np.random.default_rng(seed)
    scores, chains, calls = [], [], []
    for (place, editor), source, program in product(enumerate(EDITORS), range(sources), CYCLES):
        cycle = CYCLES[program]
        planned = max(1, rounds - 2 * (program == 2 and place == 1))
        end = rng.choice(["complete"] * 8 + ["refused", "no_image", "shrunk", "failed"])
        last = len(cycle) * planned if end == "complete" else int(rng.integers(1, len(cycle) * planned + 1))
        about = {"category": CATEGORIES[program], "cycle": json.dumps(cycle), "steps": last}
        settings = json.dumps({"audit": {"round": 2}} if rng.random() < 0.03 else {})
        chain = chain_row(editor, source, program, planned, end, **about, settings=settings)
        chains.append(chain)
        if rng.random() < 0.03:
            continue  # not scored
        slope = rng.gamma(2, 0.01 * (place + 1))
        for step in range(1, last + 1):
            round, position = (step - 1) // len(cycle) + 1, (step - 1) % len(cycle) + 1
            ok = step < last or end == "complete"
            value = np.clip(1 - slope * round + rng.normal(0, 0.04, 12), 0, 1)
            row = {name: chain[name] for name in ("chain", "editor", "source", "program", "run")}
            row |= {"step": step, "round": round, "position": position, "status": "ok" if ok else end}
            numbers = {f"retained_{name}": value[n] for n, name in enumerate(FLOORS)}
            numbers |= {name: FLOORS[name] + (FLOORS[name] < 0.6) * value[n + 4] for n, name in enumerate(FLOORS)}
            numbers |= {
                "psnr": 15 + 25 * value[8], "psnr_registered": 12 + 30 * value[9], "ssim_registered": value[10],
                "damage": 0.5 * (1 - value[11]), "framing_loss": rng.gamma(1, 0.05), "colour_shift": rng.gamma(2, 2),
                "face_distance": rng.uniform(0.1, 0.605), "undo_ratio": rng.uniform(0, 1.4),
                "rmse_previous": 9 * value[8],
            }  # fmt: skip
            closing = position > len(cycle) // 2
            kind = "exact" if program == 3 else "undo" if closing else "forward"
            if kind != "exact":
                numbers["edit_undone" if closing else "edit_changed"] = bool(rng.random() > 0.02)
            if kind == "forward":
                numbers["edit_as_asked"] = bool(rng.random() > 0.03)
            share = gaps * (place % 3)
            missing = {name: str(rng.choice(CODES)) for name in numbers if rng.random() < share or not ok}
            shown = {name: None if name in missing else number for name, number in numbers.items()}
            if rng.random() < 0.3:
                polygons = np.sort(rng.random((2, 3, 2)), 1).round(3).tolist()
                shown["damage_outline"] = json.dumps({"polygons": polygons})
            given = {name: code if ok else end for name, code in missing.items() if rng.random() < 0.95}
            scores.append(row | shown | {"reasons": json.dumps(given), "signature": SIGNATURE})
            call = {"chain": chain["chain"], "round": round, "status": row["status"]}
            calls.append(call | {"latency": rng.gamma(2, 3), "cost": 0.04 if place < 2 else None})
    twin = chains[0] | {"chain": "0" * 16, "rounds": rounds - 1, "steps": 2 * rounds - 2}
    own = [row for row in scores if row["chain"] == chains[0]["chain"]]
    scores += [row | {"chain": twin["chain"]} for row in own[: twin["steps"]]]
    names = [f"picture-{source:02}" for source in range(sources)]
    floors = []
    for one, other, (metric, floor) in product(names, names, {**FLOORS, "damage": 0.6}.items()):
        near = 0.9 if {one, other} == set(names[:2]) else rng.uniform(-0.1, 0.1)
        row = {"source": one, "other": other, "short_side": 512, "metric": metric, "signature": SIGNATURE}
        row["value"] = float(floor + near * (CEILINGS.get(metric, 0.0) - floor))
        floors += [row] * (one != other)
    return scores, [*chains, twin], floors, calls


CHOICES = {
    "many gaps": ((2, 6, 5, 0.09), {"threshold": 0.7, "framing": 0.2}),
    "strict": ((3, 13, 1, 0.02), {"threshold": 0.8, "framing": 0.1}),
    "as it is": ((1, 14, 10, 0.01), {}),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_the_numbers_of_untidy_chains(choice):
    made, options = CHOICES[choice]
    scores, chains, floors, calls = untidy(*made)
    reported = report(scores, chains, floors, calls, **options)
    analysis, rows = reported.analysis, kept_numbers.rows_of(reported.tables)
    by_chain = analysis.scores.by_chain([*scores[0], "damage_outline"])
    rows_of_chain = {name: {row.step: row for row in own} for name, own in by_chain}
    said = []
    for group in analysis.groups.values():
        for case, outcome in analysis.with_outcomes(group):
            own = rows_of_chain.get(case.chain.id, {})
            step = reasons.losing_step(case, outcome, own)
            row, checks = own.get(step), group.checks_of(case.editor)
            clause = reasons.loss_clause(case, outcome, checks, analysis.threshold, row)
            frames = reasons.frames_of(case, checks, step)
            said.append({
                "step": step, "clause": clause, "words": reasons.verdict_words(case, outcome, clause),
                "places": reasons.lost_places(row), "left out": checks_left_out(case),
                "costs": [case.cost, case.seconds],
                "frames": [[part for part in frame.values() if not isinstance(part, str)] for frame in frames],
                "labels": [[frame["label"], frame["share"] or ""] for frame in frames],
            })  # fmt: skip
    kept_numbers.check(f"untidy, {choice}", rows | {"said": said})
    groups = {}
    for name, group in analysis.groups.items():
        typical = reasons.typical_cases(group, analysis.outcomes[name], [*group.cases][:2], [*group.cases][:3])[
            :5
        ]
        known = group.roles, group.lacking, group.rounds, len(group.apart)
        groups[name] = [list(group.checks), list(group.partial), *known, typical]
    places = [place.replace(" ", "_").replace(":", "") for place in account_for(analysis).values()]
    columns = {}
    for name, table in reported.tables.items():
        columns[name] = [(column.shown, column.form, len(column.title)) for column in table.columns]
    if choice == "many gaps":
        sections = make_sections(reported.tables)
        drawn = [drawing for part in sections for drawing in part["drawings"]]
        drawings = {drawing.name: [{"": kept_numbers.of_figure(drawing)}] for drawing in drawn}
        kept_numbers.check("untidy, drawn", drawings)
        kept_numbers.check("untidy, page", {part["title"]: [{"": part["tables"]}] for part in sections})
    page = sentences.page_sentences(reported.tables)
    kept_numbers.check(f"untidy, {choice}, in all", {
        "groups": [groups], "places": [{"": places}], "alike": [{"": excluded_text(analysis.look_alikes)}],
        "page": [page], "sentences": [{name: len(said) for name, said in page.items()}], "columns": [columns],
        "rounds": [{"": [spread_rounds(last, 4) for last in range(1, 13)]}],
        "cases": [{"": [[*case.values("left"), *case.quality()] for case in analysis.cases]}],
    })  # fmt: skip
