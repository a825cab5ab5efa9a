"""A dataset as the statistics see it, read once, with what several of them need of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from convergebench.dataset_builder.studies.labels.labels import Label
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.outcomes import Outcome

from .apart import reasons_apart
from .cases import Case, read_cases
from .comparisons import GroupComparison, compare_group
from .floors import Floors
from .groups import HALF, CaseGroup, count_failures, group_cases, outcome_of_case
from .honesty_checks import HONESTY_COLUMNS, honesty_rows
from .judged import Judged
from .people import LabelledItem, labelled_items
from .published_scores import PublishedMetric, published_metrics
from .recall_outcomes import RECALL_COLUMNS, recall_rows
from .restoration import RestoredSet, own_restorations, published_restorations, restored_sets
from .stored_rows import StoredRows, narrow, with_any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What a reader may ask for."""

    threshold: float = HALF  # what a return has to retain
    framing: float | None = None  # the largest loss of framing that is none; None: it is reported, and no loss
    suites: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)  # what programs each suite has


class Analysis:
    """A dataset's chains and the rows of its tables; `calls` are rows of its steps and tell time and cost."""

    def __init__(
        self,
        scores: Sequence[Row] | StoredRows,
        chains: Sequence[FinishedChain],
        floors: Sequence[Row] = (),
        calls: Sequence[Row] | StoredRows = (),
        published: Sequence[Row] = (),
        roles: Mapping[str, str] | None = None,  # by editor: editor, baseline or transport
        options: Options = Options(),
        judgements: Sequence[Row] = (),
        labels: Sequence[Label] = (),
    ):
        self.scores = scores
        self.chains = chains
        self.floor_rows = floors
        self.options = options
        self.judged = Judged(judgements, {chain.id for chain in chains})
        self.roles = roles or {}
        self.labels = labels
        self.floors = Floors(floors, chains)
        self.look_alikes = self.floors.look_alikes(chains)
        self.excluded = list(self.look_alikes)
        self.cases: list[Case]
        self.cases, self.left_out = read_cases(scores, chains, self.floors, calls)
        scored = {row["chain"] for row in narrow(scores, ["chain"])}
        measured = {chain.editor for chain in chains if chain.id in scored}
        self.unscored = sorted({chain.editor for chain in chains} - measured)
        published = list(published)
        self.published: list[PublishedMetric] = published_metrics(published, chains)
        own = own_restorations(scores, [case.chain for case in self.cases])
        self.restored: list[RestoredSet] = restored_sets(own, published_restorations(published))
        self.restored_chains = {each.chain for each in own if each.values}

    @cached_property
    def rows_of_checks(self) -> list[Row]:
        """The scores that the recall audit and the checks of honesty look at, with their columns alone."""
        columns = [*HONESTY_COLUMNS, *RECALL_COLUMNS]
        return list(with_any(narrow(self.scores, ["chain", "round", "position", *columns]), columns))

    @cached_property
    def recall(self) -> list[dict[str, Any]]:
        """What the recall audit found, editor by editor."""
        return recall_rows(self.rows_of_checks, self.chains)

    @cached_property
    def restoration_baselines(self) -> set[str]:
        """Methods that do not look at the words: in tables of prompts they would only repeat themselves."""
        methods = {method for each in self.restored for method in each.methods}
        others = {method for method in methods if self.roles.get(method, "editor") != "editor"}
        return others if methods - others else set()

    @cached_property
    def people(self) -> list[LabelledItem]:
        """What people said of the pictures, item by item."""
        return labelled_items(self.labels, self.chains)

    @cached_property
    def honesty(self) -> list[dict[str, Any]]:
        """What each check of honesty found, editor by editor."""
        return honesty_rows(self.rows_of_checks, self.chains)

    @cached_property
    def apart(self) -> dict[str, tuple[str, ...]]:
        """Why editors are listed apart in every table."""
        return reasons_apart(self.rows_of_checks, self.chains)

    @cached_property
    def groups(self) -> dict[str, CaseGroup]:
        """The groups of programs that a headline counts."""
        return group_cases(self.cases, self.excluded, self.apart, self.roles)

    @cached_property
    def outcomes(self) -> dict[str, dict[str, list[Outcome]]]:
        """The outcome of every case, by group and editor."""
        return {
            name: {
                editor: count_failures(
                    cases,
                    [
                        outcome_of_case(
                            case, group.checks_of(editor), self.options.threshold, framing=self.options.framing
                        )
                        for case in cases
                    ],
                )
                for editor, cases in group.cases.items()
            }
            for name, group in self.groups.items()
        }

    @cached_property
    def comparisons(self) -> dict[str, GroupComparison]:
        """How the editors of each group compare."""
        return {name: compare_group(group, self.outcomes[name]) for name, group in self.groups.items()}

    def measured_cases(self, group: CaseGroup, least: int = 1) -> list[tuple[Case, Outcome]]:
        """The cases of the editors under test with their outcomes, without those that are missing."""
        return [
            (case, outcome)
            for editor in group.tested(least)
            for case, outcome in zip(group.cases[editor], self.outcomes[group.name][editor], strict=True)
            if not outcome.failed
        ]
