"""Groups of programs, whose cases are counted together; studies add their own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.edit_applied.cycles import roles

from ..studies import study_modules

if TYPE_CHECKING:
    from .analysis import Analysis
    from .cases import Case

NO_GROUP = "other programs"  # of a study that is not installed


@dataclass(frozen=True)
class ProgramGroup:
    """`outcome` says what became of a chain that no headline counts."""

    name: str
    description: str  # completes "These are ..."
    holds: Callable[[FinishedChain], bool]  # no chain may belong to two groups
    order: int  # of the headlines
    filter_name: str = ""  # for visitors who filter by group; empty: not offered
    counted: bool = True  # by a headline
    asks_edits: bool = False  # whether a round has to make an edit and take it back
    done: str = "round"  # what a reader calls the end of a round, before its number
    start: str = "original"  # ... the picture that a chain begins with
    reference: str = "original"  # ... the picture that all are compared with
    outcome: Callable[["Analysis", "Case"], str] | None = None
    outcomes: tuple[str, ...] = ()


def asks_for_edit(chain: FinishedChain) -> bool:
    program = chain.program
    return program.closes and any(role.kind == "forward" for role in roles(program.cycle, program.closes))


_ROUND_TRIPS = ProgramGroup(
    "round trips",
    "programs that ask for a change and then to undo it",
    holds=asks_for_edit,
    order=10,
    filter_name="edit and undo",
    asks_edits=True,
    done="undone",
)


def words_for(group: str) -> ProgramGroup:
    return program_groups().get(group, _ROUND_TRIPS)


def step_label(group: str, round: int) -> str:
    """What a reader calls the picture at the end of a round; of round 0, the one that the chain begins with."""
    return f"{words_for(group).done} {round}" if round else words_for(group).start


@lru_cache
def program_groups() -> dict[str, ProgramGroup]:
    groups = [_ROUND_TRIPS, *(group for module in study_modules("groups") for group in module.GROUPS)]
    return {group.name: group for group in sorted(groups, key=lambda group: group.order)}


def group_of_chain(chain: FinishedChain) -> str:
    """A study's group comes before the core's."""
    names = [group.name for group in program_groups().values() if group.holds(chain)]
    return next((name for name in names if name != _ROUND_TRIPS.name), names[0] if names else NO_GROUP)
