"""Undo instructions that a language model writes from the words of an edit alone, as programs of an own suite."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from convergebench.generation.calls import Transient
from convergebench.generation.files import refuse_strangers_file
from convergebench.generation.records import Program, UserError

from ..edit_applied.cycles import roles
from .asks import Ask
from .backends import Choice, Shown, trait

WORDS = """An image editor was given one picture and this instruction: "{instruction}"
Write the one instruction that takes exactly this change back and changes nothing else. \
The editor will see only the changed picture. Answer with the instruction alone, in at most 20 words."""
LONGEST = 200  # characters of an instruction
TRIES = 3
WAIT = 2.0  # seconds before the next try
MARK = "~"  # between the program that is imitated and who wrote its undo
FIRST_WORDS = f"# The undo of each program with a {MARK} was written by "  # of a suite that we wrote


@dataclass(frozen=True)
class WrittenUndo:
    """What the model wrote for one program, or why there is nothing."""

    program: Program
    words: str | None
    reason: str | None = None
    cost: float | None = None


def has_one_undo(program: Program) -> bool:
    """Whether it asks for one change and takes it back: what is written can take the place of the second words."""
    return [role.kind for role in roles(program.cycle, program.closes)] == ["forward", "undo"] and not program.items


def write_undo(choice: Choice, program: Program) -> WrittenUndo:
    """Ask for one undo; a refusal, or what is no instruction, is a reason and never an instruction."""
    words = WORDS.replace("{instruction}", program.cycle[0])
    ask = cast(
        Ask, SimpleNamespace(words=words, question=SimpleNamespace(value=None, schema={}, name="undo"), key=words)
    )
    for attempt in range(1, TRIES + 1):
        try:
            answer = choice.judge.answer(Shown(ask, (), no_picture))
            break
        except Transient as error:
            if attempt == TRIES:
                return WrittenUndo(program, None, str(error))
            time.sleep(WAIT)
    said = answer.text.strip().strip('"“”').strip()
    if answer.status != "ok" or not said:
        return WrittenUndo(program, None, answer.reason or "an empty answer", answer.cost)
    if len(said) > LONGEST or "\n" in said or not re.search(r"[A-Za-z]", said):
        return WrittenUndo(program, None, f"no instruction: {said[:60]!r}", answer.cost)
    return WrittenUndo(program, said, None, answer.cost)


def no_picture(step: int) -> Any:
    raise LookupError(f"words alone are asked about; there is no picture {step}")


def write_undos(
    choice: Choice,
    programs: Iterable[Program],
    known: Mapping[str, str] | None = None,
    advance: Callable[[], object] = lambda: None,
) -> list[WrittenUndo]:
    """One undo for each program that asks for one change; those that are known already are not asked again."""
    found = []
    for program in programs:
        earlier = (known or {}).get(program_id(program, choice))
        found.append(WrittenUndo(program, earlier) if earlier else write_undo(choice, program))
        advance()
    return found


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


def price_of(choice: Choice, programs: Iterable[Program]) -> float | None:
    """US dollars that the calls cost at most; None where the price is not known."""
    prices = [trait(choice.judge, "price")(len(WORDS) + len(program.cycle[0]), 0) for program in programs]
    return None if None in prices else round(sum(prices), 4)


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
