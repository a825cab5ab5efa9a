"""The types that every room shares, such as Source, Program, Chain and Step.

A chain is what is asked, a step is what came back. All
are frozen records that survive a round trip through JSON.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, lru_cache
from types import UnionType
from typing import Any, NamedTuple, Self, TypeVar, get_args, get_origin, get_type_hints

KINDS = ("face", "object", "scene", "texture", "text")
ORIGINS = ("real", "synthetic")
REVERSIBILITY = ("exact", "clear", "partial", "destroys information", "invents information")
STATUSES = ("input", "ok", "shrunk", "refused", "no_image", "failed", "unpublished")
GOES_ON = ("input", "ok", "unpublished")  # a chain may go on after these; the last is a gap in an imported chain
PICTURED = ("input", "ok", "shrunk")  # the statuses of a step whose bytes decode to a picture
# Under test; a reference editor that marks one end of the scale; a re-encoding alone.
ROLES = ("editor", "baseline", "transport")

NEXT = "{next}"  # an instruction that a simulated user says after looking at the last picture
UNKNOWN = "unknown"  # a missing licence or attribution, which `convergebench publish` refuses
_SURROGATES = re.compile("[\ud800-\udfff]")
T = TypeVar("T")
Setting = str | int | float | bool | None
Values = Mapping[str, Any]  # an object of JSON or TOML, before its fields are checked
Json = dict[str, Any]  # one that is being made or changed
_TYPE_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", tuple: "a list"}
_types_of = cache(get_type_hints)


class UserError(Exception):
    """Input that cannot be used; the message says what was given and what is allowed."""


class Refused(Exception):
    """Raised by a user's own editor to decline an instruction; the message is its reason."""


def canonical(value: object) -> str:
    """JSON with exactly one spelling for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def json_object(data: str | bytes) -> Json | None:
    """The object that some bytes hold as JSON; None if they hold anything else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def one_of(name: str, value: str, allowed: Collection[str]) -> None:
    if value not in allowed:
        raise UserError(f"no {name} {value!r}; it must be one of {', '.join(allowed)}")


def unique(what: str, pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    rows: dict[str, T] = {}
    for id, row in pairs:
        if id in rows:
            raise UserError(f"{what} {id!r} is given twice; rename one of them")
        rows[id] = row
    return rows


def check_fields(
    what: str, values: Values, record: type, allowed: Collection[str] = (), required: Sequence[str] = ()
) -> None:
    """Raise UserError for a field that is unknown, missing or of another type than in the record."""
    allowed = allowed or [field.name for field in fields(record)]
    unknown = [name for name in values if name not in allowed]
    missing = [name for name in required if name not in values]
    if unknown or missing:
        wrong = f"has no field {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise UserError(f"{what} {wrong}; its fields are {', '.join(allowed)}")
    for name, value in values.items():
        kind = _types_of(record).get(name)
        if kind is not None and not _is_of_type(value, kind):
            words = _TYPE_WORDS.get(get_origin(kind) or kind, "something else")
            raise UserError(f"{what} has {str(value)[:40]!r} for {name}, which must be {words}")


def _is_of_type(value: object, kind: Any) -> bool:
    if isinstance(kind, UnionType):
        return any(_is_of_type(value, option) for option in get_args(kind))
    if get_origin(kind) is tuple:
        return isinstance(value, list | tuple) and all(_is_of_type(item, get_args(kind)[0]) for item in value)
    if kind is str:
        return isinstance(value, str) and is_encodable(value)
    if kind in (int, float):
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    return isinstance(value, get_origin(kind) or kind)


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can encode it: JSON allows half of a surrogate pair."""
    return text.isascii() or not _SURROGATES.search(text)


def spellings(secret: str) -> set[str]:
    """The secret and its base64 forms, which depend on how many bytes come before it."""
    data, results = secret.encode(), {secret}
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        whole = encoded[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
        results |= {whole, whole.replace("+", "-").replace("/", "_")}
    return {spelling for spelling in results if len(spelling) >= 8}


def storable(value: Any, depth: int = 20) -> Any:
    """A foreign value as JSON and UTF-8 can hold it; other objects become their repr."""
    if isinstance(value, str):
        return value if is_encodable(value) else value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if depth and isinstance(value, Mapping):
        return {storable(str(name)): storable(item, depth - 1) for name, item in value.items()}
    if depth and isinstance(value, list | tuple):
        return [storable(item, depth - 1) for item in value]
    return storable(repr(value)[:200]) if depth else "..."


class Record:
    """Base of the records; converts to and from plain dictionaries."""

    def to_dict(self) -> Json:
        return asdict(self)  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, values: Values) -> Self:
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        return cls(
            **{name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in names}
        )


@dataclass(frozen=True)
class Source(Record):
    """One starting picture. `reference` names another picture only if the input is a degraded one."""

    id: str
    sha256: str  # of the file, or of the pixels as PPM if the project made them (painted, cropped, degraded)
    width: int
    height: int
    kind: str
    origin: str
    licence: str
    attribution: str
    title: str = ""
    reference: str | None = None  # sha256 of the reference's file, if it is another picture
    scene: str = ""  # for restoration: what kind of scene it shows
    degradation: str = ""  # for restoration: what is wrong with it

    def __post_init__(self) -> None:
        one_of("kind", self.kind, KINDS)
        one_of("origin", self.origin, ORIGINS)


@dataclass(frozen=True)
class Program(Record):
    """What one round asks for; if it `closes`, a finished round should equal the reference."""

    id: str
    cycle: tuple[str, ...]  # "{item}" in an instruction is replaced by the round's item
    category: str
    closes: bool
    reversibility: str
    reason: str = ""  # why it has that reversibility
    shows: str = ""  # what the forward picture shows that the source does not
    fits: tuple[str, ...] = KINDS
    items: tuple[str, ...] = ()
    small: bool = False  # the change covers little of the picture: glasses, earrings

    def __post_init__(self) -> None:
        one_of("reversibility", self.reversibility, REVERSIBILITY)
        if not self.cycle:
            raise UserError(f"program {self.id!r} has an empty cycle; it needs at least one instruction")
        for kind in self.fits:
            one_of("fits", kind, KINDS)

    def instruction(self, round: int, position: int) -> str:
        text = self.cycle[position - 1]
        return text.replace("{item}", self.items[(round - 1) % len(self.items)]) if self.items else text


@dataclass(frozen=True)
class Chain(Record):
    """One source, taken through the rounds of one program by one editor; one of several runs."""

    source: Source
    program: Program
    editor: str  # as a reader names it, with the options that differ from their defaults: "jpeg:quality=40"
    settings: Mapping[str, Setting]
    run: int
    rounds: int

    @property
    def id(self) -> str:
        """A hash of the chain's content, so that a plan has the same ids on any machine."""
        content = {
            "source": [self.source.id, self.source.sha256, self.source.reference],
            "program": [self.program.id, self.program.cycle, self.program.items],
            "editor": self.editor,
            "settings": dict(self.settings),
            "run": self.run,
            "rounds": self.rounds,
        }
        return hashlib.sha256(canonical(content).encode()).hexdigest()[:16]

    @property
    def calls(self) -> int:
        return self.rounds * len(self.program.cycle)

    def asks(self) -> Iterator[tuple[int, int, int, str]]:
        """Every step of the chain: its number from 1, round, position in the cycle, instruction."""
        length = len(self.program.cycle)
        for index in range(self.calls):
            round, position = index // length + 1, index % length + 1
            yield index + 1, round, position, self.program.instruction(round, position)

    def seed(self, step: int) -> int:
        """A step's seed, or one for all steps if the settings say `fixed`; runs differ because their ids do."""
        place = 0 if self.settings.get("seed") == "fixed" else step
        return int.from_bytes(hashlib.sha256(f"{self.id}:{place}".encode()).digest()[:4], "big") >> 1

    @classmethod
    def from_dict(cls, values: Values) -> Self:
        source, program = Source.from_dict(values["source"]), Program.from_dict(values["program"])
        return super().from_dict({**values, "source": _interned(source), "program": _interned(program)})


@lru_cache(10_000)
def _interned(record: Record) -> Record:
    """Equal sources and programs are one object, so that many chains need little memory."""
    return record


class Turn(NamedTuple):
    """An earlier step as given to editors that remember: what was asked, and what came back."""

    instruction: str
    data: bytes
    details: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Answer:
    """What an editor gives back for one call: the bytes as received, or why there are none."""

    data: bytes = b""
    status: str = "ok"  # ok, refused or no_image; technical failure is an exception
    reason: str = ""
    text: str = ""  # what the model said
    cost: float | None = None  # US dollars
    details: Values = field(default_factory=dict)  # request id, model version, usage, finish reason
    seconds: float = 0.0  # that the call took; set by its Caller


@dataclass(frozen=True)
class Step(Record):
    """One call and what came back. Step 0 is the chain's input as prepared for the editor."""

    step: int
    round: int
    position: int
    instruction: str
    status: str
    seed: int | None = None
    file: str | None = None  # inside the chain's folder, the bytes exactly as received
    sha256: str | None = None
    bytes: int | None = None
    type: str | None = None  # by the magic bytes, not as declared
    width: int | None = None
    height: int | None = None
    latency: float | None = None  # seconds; null for embedded editors, whose time depends on this machine
    cost: float | None = None  # US dollars
    reason: str | None = None
    text: str | None = None
    details: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of("status", self.status, STATUSES)


@dataclass(frozen=True, slots=True)
class FinishedChain:
    """A chain and how it ended."""

    id: str  # as recorded in the store or the dataset
    chain: Chain
    suite: str
    suite_version: str
    status: str  # complete, shrunk, refused, no_image or failed
    calls: int  # answers of the editor, which is every step but step 0
    cost: float | None  # US dollars of all its steps; null if none of them has a price

    @property
    def editor(self) -> str:
        return self.chain.editor

    @property
    def source(self) -> Source:
        return self.chain.source

    @property
    def program(self) -> Program:
        return self.chain.program

    @property
    def run(self) -> int:
        return self.chain.run

    @property
    def rounds(self) -> int:
        return self.chain.rounds

    @property
    def policy(self) -> str:
        """The policies that its editor runs under, such as `align+paste-back`."""
        return str(self.chain.settings.get("policy", ""))

    @property
    def short_side(self) -> int | None:
        side = self.chain.settings.get("short_side")
        return int(side) if side is not None else None

    @property
    def order(self) -> tuple[str, str, str, int, str]:
        return self.editor, self.source.id, self.program.id, self.run, self.id


@dataclass(frozen=True)
class EditorInfo(Record):
    name: str
    role: str = "editor"
    about: str = ""
    planned: int = 0  # chains; 0 if unknown
    standing: str = ""  # of a submission: why it is listed apart from those that answer a challenge

    def __post_init__(self) -> None:
        one_of("role", self.role, ROLES)
