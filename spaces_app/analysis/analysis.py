"""What all statistics read: a dataset with its cases, groups and outcomes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from convergebench.dataset_builder.dataset import columns as dataset_columns
from convergebench.dataset_builder.dataset.rows import FloorRow, StepRow
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import Comparison
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.scores import ScoreRow, signature_of

from ..studies import study_modules
from .cases import Case, read_cases
from .comparisons import compare_group
from .floors import Floors
from .groups import HALF, CaseGroup, count_failures, group_cases, merge_reasons, outcome_of_case
from .stored_rows import StoredRows, TableRows

Row = Mapping[str, Any]
_R = TypeVar("_R", bound=dataset_columns.Row)
T = TypeVar("T")


def _typed(rows: Iterable[_R | Row], row_type: type[_R]) -> list[_R]:
    return [row_type.from_values(row) if isinstance(row, Mapping) else row for row in rows]


class Analysis:
    """A dataset; `calls` are the rows of its steps with time and cost."""

    def __init__(
        self,
        scores: StoredRows[ScoreRow] | Iterable[Row],
        chains: Sequence[FinishedChain],
        floors: Iterable[FloorRow | Row] = (),
        calls: StoredRows[StepRow] | Iterable[Row] = (),
        roles: Mapping[str, str] | None = None,  # by editor: editor, baseline or transport
        tables: Mapping[str, Iterable[Any]] | None = None,  # by name; read by studies
        threshold: float = HALF,  # a return that retains less is lost
        framing: float | None = None,  # the largest loss that does not end a case
        programs_of: Callable[[str], Sequence[str]] | None = None,  # those of a suite
    ):
        self.scores = scores if isinstance(scores, StoredRows) else TableRows.of(scores, ScoreRow)
        self.chains = chains
        self.floor_rows = _typed(floors, FloorRow)
        self.threshold, self.framing = threshold, framing
        self.programs_of = programs_of or (lambda suite: ())
        self.roles = roles or {}
        self.floors = Floors(self.floor_rows, chains)
        self.look_alikes = self.floors.look_alikes(chains)  # their cases do not count
        self._tables = tables or {}
        self._computed: dict[Callable[[Analysis], Any], Any] = {}
        self.calls = calls if isinstance(calls, StoredRows) else TableRows.of(calls, StepRow)

    def table(self, name: str) -> Iterable[Row]:
        return self._tables.get(name, ())

    def rows(self, row_type: type[_R]) -> list[_R]:
        return _typed(self.table(row_type.TABLE), row_type)

    def once(self, function: "Callable[[Analysis], T]") -> T:
        """`function(self)`, computed on the first call and cached."""
        if function not in self._computed:
            self._computed[function] = function(self)
        result: T = self._computed[function]
        return result

    @cached_property
    def signatures(self) -> list[dict[str, dict[str, Any]]]:
        """What the scores depend on: one for each text that occurs."""
        return [signature_of({"signature": text}) for text in self.scores.distinct("signature")]

    @cached_property
    def cases(self) -> list[Case]:
        return read_cases(self.scores, self.chains, self.floors, self.calls)

    @cached_property
    def apart(self) -> dict[str, tuple[str, ...]]:
        """By editor, why studies list it apart in every table."""
        return merge_reasons(*(module.reasons(self) for module in study_modules("apart")))

    @cached_property
    def groups(self) -> dict[str, CaseGroup]:
        return group_cases(self.cases, self.look_alikes, self.apart, self.roles)

    @cached_property
    def outcomes(self) -> dict[str, dict[str, list[Outcome]]]:
        return {
            name: {
                editor: self._outcomes(cases, group.checks_of(editor)) for editor, cases in group.cases.items()
            }
            for name, group in self.groups.items()
        }

    def _outcomes(self, cases: Sequence[Case], checks: Sequence[str], undecided: str = "") -> list[Outcome]:
        limits = self.threshold, self.framing, undecided
        return count_failures(cases, [outcome_of_case(case, checks, *limits) for case in cases])

    @cached_property
    def bounds(self) -> dict[str, tuple[Outcome, Outcome]]:
        """Of each counted chain, the outcomes with all undecided rounds kept, and with all of them lost."""
        return {
            case.chain.id: (if_kept, if_lost)
            for group in self.groups.values()
            for editor, cases in group.cases.items()
            for case, if_kept, if_lost in zip(
                cases,
                *(self._outcomes(cases, group.checks_of(editor), way) for way in ("kept", "lost")),
                strict=True,
            )
        }

    @cached_property
    def comparisons(self) -> dict[str, dict[str, list[Comparison]]]:
        return {name: compare_group(group, self.outcomes[name]) for name, group in self.groups.items()}

    def with_outcomes(self, group: CaseGroup, *editors: str) -> list[tuple[Case, Outcome]]:
        """The cases of these editors (default: all), each with its outcome."""
        return [
            pair
            for editor in editors or group.cases
            for pair in zip(group.cases[editor], self.outcomes[group.name][editor], strict=True)
        ]
