"""I2EBench's sequences of five edits: the share in which every edit so far was judged done."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.survival import kaplan_meier

from .sections import Claim, Section, origin, table

TITLE = "Sequences of five edits: plain shares and Kaplan-Meier"
WHAT = "a clone of cocoshe/I2EBench"
ROUNDS = (1, 2, 3, 4, 5)
TASKS = ("BGReplacement", "ColorAlteration", "Counting", "DirectionPerception", "ObjectRemoval", "Replacement")
Sequence = dict[int, dict[str, Any]]  # what was judged, by round


def run(path: Path) -> Section:
    section = Section(TITLE, [f"Compared: {origin(path)}."])
    editors = sorted({each.stem for each in path.glob("EditEval_5nd/*/*.json")})
    if not editors:
        section.claims.append(Claim(f"{path.name} holds EditEval to EditEval_5nd", False))
        return section
    rows, equal = [], True
    for editor in editors:
        sequences = read_sequences(path, editor)
        lost_at = np.array([first_failure(each) for each in sequences.values()])
        shares = [float((lost_at > round).mean()) for round in ROUNDS]
        grid, alive = kaplan_meier(np.minimum(lost_at, ROUNDS[-1]), lost_at <= ROUNDS[-1])
        survival = [float(alive[grid <= round][-1]) if (grid <= round).any() else 1.0 for round in ROUNDS]
        equal = equal and bool(np.allclose(shares, survival, rtol=0, atol=1e-12))
        rows.append([editor, len(sequences), *(f"{share:.2f}" for share in shares)])
    words = f"the plain shares of {len(editors)} editors are our uncensored Kaplan-Meier to the digit, in all rounds"
    section.claims.append(Claim(words, equal))
    section.text.append(table(["editor", "sequences", *(f"round {round}" for round in ROUNDS)], rows))
    return section


def read_sequences(path: Path, editor: str) -> dict[tuple[str, str], Sequence]:
    """Every sequence of an editor by its task and number: those that round 1 holds."""
    found: dict[tuple[str, str], Sequence] = {}
    for task in TASKS:
        for round in ROUNDS:
            file = path / ("EditEval" if round == 1 else f"EditEval_{round}nd") / task / f"{editor}.json"
            for number, about in json.loads(file.read_text()).items() if file.is_file() else ():
                if round == 1 or (task, number) in found:
                    found.setdefault((task, number), {})[round] = about
    return found


def first_failure(sequence: Sequence) -> int:
    """The first round that was not judged done, 6 where all were; a round without a judgement is not done."""
    done = ["yes" in str(sequence.get(round, {}).get("final_judgement", "")).lower() for round in ROUNDS]
    return done.index(False) + 1 if False in done else ROUNDS[-1] + 1
