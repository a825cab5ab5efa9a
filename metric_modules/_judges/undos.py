"""Undo instructions that a language model writes from the words of an edit alone, as programs of an own suite."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from convergebench.generation.calls import Caller, CallLimits, Rejected, Unusable
from convergebench.generation.files import refuse_strangers_file
from convergebench.generation.ledger import Budget, OverBudget
from convergebench.generation.records import Answer, Program, UserError

from ..edit_applied.cycles import roles
from .asks import Ask
from .backends import Choice, Shown, trait
from .run import refuse_impossible_cost, refuse_unknown_price
from .store import JudgeLedger, append_line, file_stem, one_at_a_time, read_lines, settle_what_is_known

WORDS = """An image editor was given one picture and this instruction: "{instruction}"
Write the one instruction that takes exactly this change back and changes nothing else. \
The editor will see only the changed picture. Answer with the instruction alone, in at most 20 words."""
LONGEST = 200  # characters of an instruction
MARK = "~"  # between the program that is imitated and who wrote its undo
FIRST_WORDS = f"# The undo of each program with a {MARK} was written by "  # of a suite that we wrote


@dataclass(frozen=True)
class WrittenUndo:
    """What the model wrote for one program, or why there is nothing."""

    program: Program
    words: str | None
    reason: str | None = None


def has_one_undo(program: Program) -> bool:
    """Whether it asks for one change and takes it back: what is written can take the place of the second words."""
    return [role.kind for role in roles(program.cycle, program.closes)] == ["forward", "undo"] and not program.items


@dataclass
class Writing:
    """What came of asking for undos."""

    undos: list[WrittenUndo] = field(default_factory=list)
    spent: float = 0.0  # US dollars, now
    before: float = 0.0  # by this model for this file before
    stopped: str | None = None  # why the rest was not asked


class KeptUndos:
    """Every answer of one model for one file, durable before its cost is settled: none is paid for twice.

    .NAME-undos/MODEL/undos.jsonl          a line for each answer, what is no instruction included
    .NAME-undos/MODEL/ledger/calls.jsonl   what the calls cost (see generation/ledger.py)
    """

    def __init__(self, folder: Path):
        self.path = folder / "undos.jsonl"
        lines = read_lines(self.path)
        self.words = {line["asked"]: line["words"] for line in lines if line["words"]}
        self.calls = {line["call"]: line["own"] for line in lines if line["call"]}
        self.cost = sum(line["own"] for line in lines)

    def append(self, asked: str, words: str | None, call: str | None, own: float) -> None:
        append_line(self.path, {"asked": digest(asked), "words": words, "call": call, "own": own})


def kept_folder(out: Path, choice: Choice) -> Path:
    return out.parent / f".{out.stem}-undos" / file_stem(choice.label)


def digest(asked: str) -> str:
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def words_for(program: Program) -> str:
    return WORDS.replace("{instruction}", program.cycle[0])


def ask_undo(choice: Choice, program: Program, caller: Caller, kept: KeptUndos) -> WrittenUndo:
    """Ask for one undo; a refusal, or what is no instruction, is a reason and never an instruction."""
    asked = words_for(program)
    ask = cast(
        Ask, SimpleNamespace(words=asked, question=SimpleNamespace(value=None, schema={}, name="undo"), key=asked)
    )

    def attempt() -> Answer:
        answer = choice.judge.answer(Shown(ask, (), no_picture))
        own = caller.price if answer.cost is None else answer.cost
        ledger = caller.budget.ledger
        call = ledger.take_call() if isinstance(ledger, JudgeLedger) else None
        kept.append(asked, read_undo(program, answer).words, call, own)
        return answer

    try:
        return read_undo(program, caller.ask(attempt).answer)
    except Rejected as error:
        return WrittenUndo(program, None, str(error))


def read_undo(program: Program, answer: Answer) -> WrittenUndo:
    """The instruction in what the model said, or why there is none."""
    said = answer.text.strip().strip('"“”').strip()
    if answer.status != "ok" or not said:
        return WrittenUndo(program, None, answer.reason or "an empty answer")
    if len(said) > LONGEST or "\n" in said or not re.search(r"[A-Za-z]", said):
        return WrittenUndo(program, None, f"no instruction: {said[:60]!r}")
    return WrittenUndo(program, said)


def no_picture(step: int) -> Any:
    raise LookupError(f"words alone are asked about; there is no picture {step}")


def write_undos(
    choice: Choice,
    programs: Sequence[Program],
    out: Path,
    known: Mapping[str, str],
    max_cost: float | None = None,
    advance: Callable[[], object] = lambda: None,
) -> Writing:
    """One undo for each program that asks for one change; those that are known already are not asked again.

    `max_cost` is for all that this model costs for this file, earlier runs included.
    """
    refuse_impossible_cost(max_cost)
    price = price_of_one(choice, programs)
    refuse_unknown_price(max_cost, price, choice.label)
    folder, writing = kept_folder(out, choice), Writing()
    with one_at_a_time(folder, f"{choice.label} writes {out} in another process; wait for it"):
        kept = KeptUndos(folder)
        ledger = None
        if price != 0:
            ledger = JudgeLedger(folder, kept.cost)
            settle_what_is_known(ledger, kept.calls)
        budget = Budget(max_cost, ledger=ledger)
        writing.before = budget.spent
        caller = Caller(CallLimits(**{"concurrency": 1, **choice.rates}), budget, price)
        for program in programs:
            words = known.get(program_id(program, choice)) or kept.words.get(digest(words_for(program)))
            if words:
                writing.undos.append(WrittenUndo(program, words))
            elif writing.stopped:
                writing.undos.append(WrittenUndo(program, None, f"not asked: {writing.stopped}"))
            else:
                try:
                    writing.undos.append(ask_undo(choice, program, caller, kept))
                except (Unusable, OverBudget, UserError) as error:
                    writing.stopped = str(error)
                    writing.undos.append(WrittenUndo(program, None, f"not asked: {error}"))
            advance()
        writing.spent = float(budget.paid)
    return writing


def program_id(program: Program, choice: Choice) -> str:
    """'hat~gpt-5.4-mini': the program, and the model that wrote its undo."""
    writer = str(choice.settings.get("model") or choice.name).rpartition("/")[2]
    return f"{program.id}{MARK}{re.sub(r'[^A-Za-z0-9.-]+', '-', writer)}"


def suite_text(choice: Choice, written: Iterable[WrittenUndo], about: Mapping[str, Any]) -> str:
    """A suite of one's own with the suite's programs and, beside each, the one with the written undo."""
    written = list(written)
    done = [each for each in written if each.words]
    digest = hashlib.sha256(WORDS.encode()).hexdigest()[:12]
    lines = [f"{FIRST_WORDS}{choice.label}, asked in the words {digest}."]
    lines += [f"# No undo of {each.program.id}: {(each.reason or '')[:120]!r}" for each in written if not each.words]
    ids = [id for each in done for id in (each.program.id, program_id(each.program, choice))]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in about.items()]
    lines += [f"programs = {json.dumps(ids)}"]
    for each in done:
        program = each.program
        row = {
            "id": program_id(program, choice),
            "cycle": [program.cycle[0], each.words],
            "category": program.category,
            "closes": True,
            "reversibility": program.reversibility,
            "reason": f"as {program.id}; the undo was written by a model",
            "shows": program.shows,
            "fits": list(program.fits),
            "small": program.small,
        }
        lines += [
            "",
            "[[program]]",
            *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in row.items()),
        ]
    return "\n".join(lines) + "\n"


def price_of_one(choice: Choice, programs: Iterable[Program]) -> float | None:
    """US dollars that one call costs at most; None where the price is not known."""
    letters = max((len(words_for(program)) for program in programs), default=len(WORDS))
    price: float | None = trait(choice.judge, "price")(letters, 0)
    return price


def to_ask(choice: Choice, programs: Iterable[Program], out: Path, known: Mapping[str, str]) -> list[Program]:
    """Those whose undo is neither in the file nor among the answers that were paid for."""
    kept = KeptUndos(kept_folder(out, choice)).words
    return [p for p in programs if program_id(p, choice) not in known and digest(words_for(p)) not in kept]


def known_undos(path: Path) -> dict[str, str]:
    """The undos that a file of before has, by their programs' ids; another file than one of these is refused."""
    import tomllib

    refuse_strangers_file(path, lambda data: data.startswith(FIRST_WORDS.encode()))
    if not path.exists():
        return {}
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("program", [])
        return {str(row["id"]): str(row["cycle"][1]) for row in rows}
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged ({error}); remove it to have the undos written again") from error
