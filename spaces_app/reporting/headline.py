"""The headline: one sentence for the Space, the report, a terminal and the README, and what it rests on."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import RANKED_FROM

from ..analysis.display_names import display_names
from ..analysis.groups import ROLES
from ..analysis.tables import format_value
from ..statistics.leaderboard import Row


def headline(rows: Sequence[Row], and_also: str = "") -> tuple[str, str]:
    """The answer, which names a winner only if the verdicts do; and its pictures, tests and what was not checked."""
    tested = [row for row in rows if row.role == ROLES["editor"]]
    shown = tested or rows
    names = display_names(row.editor for row in rows)
    missing = rows[0].name.partition("(")[2].rstrip(")")
    pictures, tests = max(row.sources for row in shown), sum(row.cases for row in shown)
    counts = [counted(pictures, "picture"), counted(tests, "test"), missing, *_caveats(shown), and_also]
    return _answer(tested, rows, names), "; ".join(filter(None, counts)) + "."


def _caveats(rows: Sequence[Row]) -> list[str]:
    """Sentences on tests with values near a limit, and on rounds whose instruction was not checked."""
    words = []
    if undecided := round(sum(row.cases * (row.undecided or 0) for row in rows)):
        words.append(f"{counted(undecided, 'test')} undecided, with a value near a limit")
    asked = [row for row in rows if row.as_asked is not None]
    if asked:
        tests = sum(row.cases for row in asked)
        yes = sum(row.cases * (row.as_asked or 0) for row in asked) / tests
        no = sum(row.cases * (row.not_as_asked or 0) for row in asked) / tests
        shares = {"as asked": yes, "not as asked": no, "not checked": 1 - yes - no}
        texts = [f"{name} {share:.0%}" for name, share in shares.items() if share >= 0.005]
        words.append(f"edits {', '.join(texts)}" if yes + no else "not checked whether edits are as asked")
    return words


def _answer(tested: Sequence[Row], rows: Sequence[Row], names: dict[str, str]) -> str:
    last, kept = max(row.last_round or 0 for row in rows), {}
    for row in rows:
        mean, low, high = (format_value(number, "rounds") for number in row.rounds_kept)
        kept[row.editor] = mean if row.rounds_kept.low is None else f"{mean} [{low}, {high}]"
    survives = {editor: f"{names[editor]} survives {kept[editor]} of {last} rounds" for editor in kept}
    if not tested:
        return f"No editor was tested, only baselines: {survives[rows[0].editor]}."
    pictures = max(row.sources for row in tested)
    few = f"{counted(pictures, 'picture')}, {RANKED_FROM} needed"
    if len(tested) == 1:
        return f"{survives[tested[0].editor]}." + (f" Too few to rank: {few}." if pictures < RANKED_FROM else "")
    first, final = tested[0], tested[-1]
    best, worst = survives[first.editor], f"{names[final.editor]}, {kept[final.editor]}"
    ranked = [row for row in tested if row.rank.value is not None]
    if not ranked:
        why = few if pictures < RANKED_FROM else f"editors share fewer than {RANKED_FROM} pictures"
        return f"No verdict: {why}. {best}, {names[final.editor]} {kept[final.editor]}."
    top = [row for row in ranked if row.rank.value == 1]
    if (first.rank.value, first.rank.high) == (1, 1):
        has_worst = (final.rank.value, final.rank.high) == (len(ranked), len(ranked))
        return f"Best: {best}." + (f" Worst: {worst}." if has_worst else "")
    if len(top) == 1:
        return f"No verdict on the best: {best}, and no editor is shown to beat it."
    ends = " to ".join(f"{kept[row.editor]} ({names[row.editor]})" for row in (top[0], top[-1]))
    return f"No single best: {len(top)} of {len(ranked)} editors may be first, from {ends} of {last} rounds."


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def suites_of(chains: Iterable[FinishedChain]) -> str:
    return ", ".join(sorted({f"{chain.suite} v{chain.suite_version}" for chain in chains}))


def stamp(version: str, reader: Reader | None) -> str:
    return " · ".join(filter(None, ("ConvergeBench", version, scored_on(reader) if reader else "")))


def scored_on(reader: Reader) -> str:
    """The day on which a local dataset was scored; a copy from the Hub has its revision instead."""
    if reader.remote is not None:
        return ""
    times = [(reader.folder / file).stat().st_mtime for file in reader.files("scores")]
    day = datetime.fromtimestamp(max(times, default=0), UTC)
    return f"scored {day.day} {day:%b %Y}" if times else ""
