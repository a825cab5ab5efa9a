"""Groups of programs; the cases of a group are counted together. Studies add their own groups."""

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

NO_GROUP = "other programs"  # programs of a study that is not installed


@dataclass(frozen=True)
class ProgramGroup:
    """`outcome` and its possible values, `outcomes`, are for groups that no headline counts."""

    name: str
    description: str  # completes "These are ..."
    contains: Callable[[FinishedChain], bool]  # no chain may belong to two groups
    order: int  # of the group's headline
    filter_name: str = ""  # for visitors who filter by group; empty: not offered
    counted: bool = True  # whether a headline counts its cases
    asks_edits: bool = False  # whether a round has to make an edit and take it back
    done: str = "round"  # label for the end of a round; its number follows
    start: str = "original"  # label for the picture that a chain starts from
    reference: str = "original"  # label for the picture that the others are compared with
    outcome: Callable[["Analysis", "Case"], str] | None = None
    outcomes: tuple[str, ...] = ()


def asks_for_edit(chain: FinishedChain) -> bool:
    program = chain.program
    return program.closes and any(role.kind == "forward" for role in roles(program.cycle, program.closes))


_ROUND_TRIPS = ProgramGroup(
    "round trips",
    "programs that ask for a change and then to undo it",
    contains=asks_for_edit,
    order=10,
    filter_name="edit and undo",
    asks_edits=True,
    done="undone",
)


def group_named(group: str) -> ProgramGroup:
    return program_groups().get(group, _ROUND_TRIPS)


def step_label(group: str, round: int) -> str:
    """The label of the picture at the end of a round; for round 0, of the picture that the chain starts from."""
    return f"{group_named(group).done} {round}" if round else group_named(group).start


@lru_cache
def program_groups() -> dict[str, ProgramGroup]:
    groups = [_ROUND_TRIPS, *(group for module in study_modules("groups") for group in module.GROUPS)]
    return {group.name: group for group in sorted(groups, key=lambda group: group.order)}


def group_of_chain(chain: FinishedChain) -> str:
    """The group of a chain; if both a study's group and the core's contain it, the study's."""
    names = [group.name for group in program_groups().values() if group.contains(chain)]
    return next((name for name in names if name != _ROUND_TRIPS.name), names[0] if names else NO_GROUP)
