"""Undo instructions that a language model writes, as programs of a suite.

.NAME-undos/MODEL/undos.jsonl          next to NAME.toml, a line for each answer, including unusable ones
.NAME-undos/MODEL/ledger/calls.jsonl   what the calls cost (see generation/ledger.py)
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from convergebench.generation.files import disk_errors_explained, locked, refuse_strangers_file
from convergebench.generation.progress import progress_bar
from convergebench.generation.records import Answer, Program

from ..edit_applied.cycles import roles
from .backends import BaseJudge, Shown
from .journal import Line, Outcome, ask_all, file_stem, read_journal, refuse_unlimitable_cost

_WORDS = """An image editor was given one picture and this instruction: "{instruction}"
Write the one instruction that takes exactly this change back and changes nothing else. \
The editor will see only the changed picture. Answer with the instruction alone, in at most 20 words."""
_JOURNAL = "undos.jsonl"
_LONGEST = 200  # characters of an instruction
_MARK = "~"  # between the original program's id and the model that wrote the undo
# Openings and words that no instruction to an editor has:
# a refusal, a question back, or talk about the task.
_NO_INSTRUCTION = re.compile(
    r"^(?:i\b|i'm|as an|the |this |there |it |sure|okay|yes\b|no\b)"
    r"|\b(?:sorry|cannot|can't|unable|not able to|won't)\b|[?{}<>]",
    re.IGNORECASE,
)
_FIRST_WORDS = f"# The undo of each program with a {_MARK} was written by "


def has_one_undo(program: Program) -> bool:
    return [role.kind for role in roles(program.cycle, program.closes)] == [
        "forward",
        "undo",
    ] and not program.items


def _kept_folder(out: Path, judge: BaseJudge) -> Path:
    return out.parent / f".{out.stem}-undos" / file_stem(judge.label)


def missing_undos(judge: BaseJudge, programs: Iterable[Program], out: Path) -> list[Program]:
    refuse_strangers_file(out, lambda data: data.startswith(_FIRST_WORDS.encode()))
    written = {line["asked"] for line in read_journal(_kept_folder(out, judge) / _JOURNAL) if line["words"]}
    return [program for program in programs if _digest(program) not in written]


def most_dollars(judge: BaseJudge, programs: Iterable[Program]) -> float | None:
    return judge.most_dollars(max(len(_words_for(program)) for program in programs), 0)


def write_undos(
    judge: BaseJudge, programs: Sequence[Program], out: Path, max_cost: float | None = None, quiet: bool = True
) -> tuple[dict[str, str], dict[str, str], Outcome]:
    """The undos by program, and why others have none; old ones are kept.

    `max_cost` limits what this model costs for this file, earlier runs included.
    """
    price, outcome = most_dollars(judge, programs), Outcome(judge.label, "undo")
    refuse_unlimitable_cost(max_cost, price, judge.label)
    folder = _kept_folder(out, judge)
    with disk_errors_explained(folder), locked(folder):
        journal = read_journal(folder / _JOURNAL)
        missing = {program.id: program for program in missing_undos(judge, programs, out)}

        def shown(id: str) -> Shown:
            return Shown(_words_for(missing[id]), name="undo")

        def entry(id: str, answer: Answer, cost: float | None, latency: float) -> Line:
            return {"asked": _digest(missing[id]), **_read_undo(answer)}

        limits = (price, max_cost, sum(line["own"] for line in journal))
        bar = partial(progress_bar, "undos", unit="undos", quiet=quiet)
        ask_all(judge, folder / _JOURNAL, journal, outcome, limits, list(missing), shown, entry, bar)
    lines, unasked = {line["asked"]: line for line in journal}, {"reason": f"not asked: {outcome.stopped}"}
    last_lines = {program.id: lines.get(_digest(program), unasked) for program in programs}
    words = {id: str(line["words"]) for id, line in last_lines.items() if line.get("words")}
    reasons = {id: str(line["reason"]) for id, line in last_lines.items() if id not in words} | outcome.left
    return words, reasons, outcome


def _digest(program: Program) -> str:
    return hashlib.sha256(_words_for(program).encode()).hexdigest()[:16]


def _words_for(program: Program) -> str:
    return _WORDS.replace("{instruction}", program.cycle[0])


def _read_undo(answer: Answer) -> Line:
    if answer.status != "ok" or not answer.text.strip():
        return {"words": None, "reason": answer.reason or "an empty answer"}
    text = _find_instruction(answer.text)
    if text is None:
        return {"words": None, "reason": f"not an instruction: {answer.text.strip()[:60]!r}"}
    return {"words": text, "reason": None}


def _find_instruction(answer: str) -> str | None:
    """The instruction in a model's answer, without what is said around it; None if there is not exactly one.

    >>> _find_instruction('Sure, here it is:\\n\\n**"Remove the hat."**'), _find_instruction("I can't help with that.")
    ('Remove the hat.', None)
    >>> _find_instruction('```json\\n{"instruction": "Remove the hat."}\\n```')
    'Remove the hat.'
    """
    text = re.sub(r"^```\w*\n|\n?```$", "", answer.strip()).replace("’", "'")
    try:
        values = json.loads(text)
        texts = [value for value in values.values() if isinstance(value, str)] if isinstance(values, dict) else []
        text = texts[0] if len(texts) == 1 else ""
    except ValueError:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        lines = [line for line in lines if not line.endswith(":")]
        text = (
            re.sub(r"^(?:instruction|undo|answer)\s*:", "", lines[0], flags=re.IGNORECASE)
            if len(lines) == 1
            else ""
        )
    text = text.strip(" \n\"'`*“”")
    usable = re.search(r"[A-Za-z]", text) and "\n" not in text and not _NO_INSTRUCTION.search(text)
    return text if usable and len(text) <= _LONGEST else None


def _program_id(program: Program, judge: BaseJudge) -> str:
    """'hat~gpt-5.4-mini': the program, and who wrote its undo."""
    writer = str(judge.settings.get("model") or judge.label).rpartition("/")[2]
    return f"{program.id}{_MARK}{re.sub(r'[^A-Za-z0-9.-]+', '-', writer)}"


def suite_text(
    judge: BaseJudge,
    programs: Iterable[Program],
    words: Mapping[str, str],
    reasons: Mapping[str, str],
    settings: Mapping[str, object],
) -> str:
    """Each program followed by its copy with the written undo; one without it has the suite's own undo alone."""
    digest = hashlib.sha256(_WORDS.encode()).hexdigest()[:12]
    lines = [f"{_FIRST_WORDS}{judge.label}, asked in the words {digest}."]
    lines += [f"# {id} has the suite's own undo alone: {reason[:120]!r}" for id, reason in reasons.items()]
    ids = [
        id
        for program in programs
        for id in (program.id, _program_id(program, judge))
        if id == program.id or program.id in words
    ]
    lines += _toml({**settings, "programs": ids})
    for program in [program for program in programs if program.id in words]:
        row = _program_row(program, _program_id(program, judge), words[program.id])
        lines += ["", "[[program]]", *_toml(row)]
    return "\n".join(lines) + "\n"


def _program_row(program: Program, id: str, undo: str) -> dict[str, object]:
    return {
        "id": id,
        "cycle": [program.cycle[0], undo],
        "category": program.category,
        "closes": True,
        "reversibility": program.reversibility,
        "reason": f"as {program.id}; the undo was written by a model",
        "shows": program.shows,
        "fits": list(program.fits),
        "small": program.small,
    }


def _toml(values: Mapping[str, object]) -> list[str]:
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
