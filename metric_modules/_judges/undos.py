"""Undo instructions that a language model writes from the instruction of an edit, as programs of a suite.

.NAME-undos/MODEL/undos.jsonl          next to NAME.toml, a line for each answer, including unusable ones
.NAME-undos/MODEL/ledger/calls.jsonl   what the calls cost (see generation/ledger.py)
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.generation.calls import Caller, CallLimits, Rejected, Unusable
from convergebench.generation.files import refuse_strangers_file
from convergebench.generation.ledger import Budget, OverBudget
from convergebench.generation.records import Answer, Program, UserError

from ..edit_applied.cycles import roles
from .backends import Choice, Shown
from .run import refuse_impossible_cost, refuse_unknown_price
from .store import Journal, JudgeLedger, ask_once, file_stem, one_at_a_time

_WORDS = """An image editor was given one picture and this instruction: "{instruction}"
Write the one instruction that takes exactly this change back and changes nothing else. \
The editor will see only the changed picture. Answer with the instruction alone, in at most 20 words."""
_LONGEST = 200  # characters of an instruction
_MARK = "~"  # between the original program's id and the model that wrote the undo
_FIRST_WORDS = f"# The undo of each program with a {_MARK} was written by "  # of a suite that we wrote


@dataclass(frozen=True)
class WrittenUndo:
    """The undo that the model wrote for one program, or the reason why there is none."""

    program: Program
    words: str | None
    reason: str | None = None


def has_one_undo(program: Program) -> bool:
    """Whether a program asks for one change and takes it back, so that a written undo can replace its second step."""
    return [role.kind for role in roles(program.cycle, program.closes)] == ["forward", "undo"] and not program.items


@dataclass
class Writing:
    """The result of asking for undos."""

    undos: list[WrittenUndo] = field(default_factory=list)
    spent: float = 0.0  # US dollars, by this run
    before: float = 0.0  # US dollars, by earlier runs of this model for this file
    stopped: str | None = None  # why the remaining programs were not asked about


def kept_folder(out: Path, choice: Choice) -> Path:
    """The folder for the answers of a model about a suite."""
    return out.parent / f".{out.stem}-undos" / file_stem(choice.label)


def _journal(out: Path, choice: Choice) -> tuple[Journal, dict[str, str]]:
    """The answers of a model, and its usable instructions by the digest of the request."""
    journal = Journal(kept_folder(out, choice) / "undos.jsonl")
    return journal, {line["asked"]: line["words"] for line in journal.entries if line["words"]}


def _digest(program: Program) -> str:
    return hashlib.sha256(_words_for(program).encode()).hexdigest()[:16]


def _words_for(program: Program) -> str:
    return _WORDS.replace("{instruction}", program.cycle[0])


def _ask_undo(choice: Choice, program: Program, caller: Caller, journal: Journal) -> WrittenUndo:
    """Ask for one undo; a refusal or unusable text becomes a reason, never an instruction."""

    def keep(answer: Answer, call: str | None, cost: float) -> None:
        journal.append({"asked": _digest(program), "words": _read_undo(program, answer).words}, call, cost)

    try:
        answer = ask_once(caller, lambda: choice.judge.answer(Shown(_words_for(program), name="undo")), keep)
    except Rejected as error:
        return WrittenUndo(program, None, str(error))
    return _read_undo(program, answer)


def _read_undo(program: Program, answer: Answer) -> WrittenUndo:
    """The instruction in the model's answer, or why there is none."""
    text = answer.text.strip().strip('"“”').strip()
    if answer.status != "ok" or not text:
        return WrittenUndo(program, None, answer.reason or "an empty answer")
    if len(text) > _LONGEST or "\n" in text or not re.search(r"[A-Za-z]", text):
        return WrittenUndo(program, None, f"not an instruction: {text[:60]!r}")
    return WrittenUndo(program, text)


def write_undos(
    choice: Choice,
    programs: Sequence[Program],
    out: Path,
    max_cost: float | None = None,
    advance: Callable[[], object] = lambda: None,
) -> Writing:
    """Ask for the undo of each program, except those that were written before.

    `max_cost` limits the total cost of this model for this file, earlier runs included.
    """
    _refuse_others_file(out)
    refuse_impossible_cost(max_cost)
    price = price_of_one(choice, programs)
    refuse_unknown_price(max_cost, price, choice.label)
    folder, writing = kept_folder(out, choice), Writing()
    with one_at_a_time(folder, f"{choice.label} writes {out} in another process; wait for it"):
        journal, written = _journal(out, choice)
        ledger = JudgeLedger(folder, sum(line["own"] for line in journal.entries), journal) if price != 0 else None
        budget = Budget(max_cost, ledger=ledger)
        writing.before = budget.spent
        caller = Caller(CallLimits(**{"concurrency": 1, **choice.rates}), budget, price)
        for program in programs:
            words = written.get(_digest(program))
            if words:
                writing.undos.append(WrittenUndo(program, words))
            elif writing.stopped:
                writing.undos.append(WrittenUndo(program, None, f"not asked: {writing.stopped}"))
            else:
                try:
                    writing.undos.append(_ask_undo(choice, program, caller, journal))
                except (Unusable, OverBudget, UserError) as error:
                    writing.stopped = str(error)
                    writing.undos.append(WrittenUndo(program, None, f"not asked: {error}"))
            advance()
        writing.spent = float(budget.paid)
    return writing


def program_id(program: Program, choice: Choice) -> str:
    """'hat~gpt-5.4-mini': the program, and the model that wrote its undo."""
    writer = str(choice.settings.get("model") or choice.name).rpartition("/")[2]
    return f"{program.id}{_MARK}{re.sub(r'[^A-Za-z0-9.-]+', '-', writer)}"


def suite_text(choice: Choice, written: Sequence[WrittenUndo], settings: Mapping[str, object]) -> str:
    """A suite with these settings that has each program followed by its copy with the written undo."""
    usable = [undo for undo in written if undo.words]
    digest = hashlib.sha256(_WORDS.encode()).hexdigest()[:12]
    lines = [f"{_FIRST_WORDS}{choice.label}, asked in the words {digest}."]
    lines += [f"# No undo of {undo.program.id}: {(undo.reason or '')[:120]!r}" for undo in written if not undo.words]
    ids = [id for undo in usable for id in (undo.program.id, program_id(undo.program, choice))]
    lines += _toml({**settings, "programs": ids})
    for undo in usable:
        program = undo.program
        row = {
            "id": program_id(program, choice),
            "cycle": [program.cycle[0], undo.words],
            "category": program.category,
            "closes": True,
            "reversibility": program.reversibility,
            "reason": f"as {program.id}; the undo was written by a model",
            "shows": program.shows,
            "fits": list(program.fits),
            "small": program.small,
        }
        lines += ["", "[[program]]", *_toml(row)]
    return "\n".join(lines) + "\n"


def _toml(values: Mapping[str, object]) -> list[str]:
    """Plain values as lines of TOML, whose syntax for them is that of JSON."""
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]


def price_of_one(choice: Choice, programs: Iterable[Program]) -> float | None:
    """US dollars that one call costs at most; None if the price is unknown."""
    letters = max((len(_words_for(program)) for program in programs), default=len(_WORDS))
    return choice.judge.price(letters, 0)


def to_ask(choice: Choice, programs: Iterable[Program], out: Path) -> list[Program]:
    """Programs whose undo was not written before."""
    _refuse_others_file(out)
    _, written = _journal(out, choice)
    return [program for program in programs if _digest(program) not in written]


def _refuse_others_file(out: Path) -> None:
    refuse_strangers_file(out, lambda data: data.startswith(_FIRST_WORDS.encode()))
