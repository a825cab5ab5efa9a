"""`convergebench undos`: asks a language model for the instructions that undo a suite's edits."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..._shared import json_option

if TYPE_CHECKING:
    from convergebench.metric_modules._judges.undos import Writing

SECTION = "ask models"


@click.command("undos", short_help="Have a model write the undo of each edit.")
@click.option("--suite", default="v1-mini", show_default=True, help="The suite whose edits are to be undone.")
@click.option(
    "--judge", "spec", required=True, help="The model: openai, gemini or transformers with options, as for `judge`."
)
@click.option("--program", "programs", multiple=True, help="Only this program; repeatable.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The suite to write, such as undos.toml.")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Print what would be asked and the most it can cost; ask nothing."
)
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Stop before this model has cost more US dollars for this file."
)
@json_option
def command(
    suite: str,
    spec: str,
    programs: tuple[str, ...],
    out: Path,
    only_plan: bool,
    max_cost: float | None,
    as_json: bool,
) -> None:
    """Have a language model write the undo of each edit, and write a suite that runs both wordings.

    The model sees the words of the edit and nothing else. Undos that were written before, or paid for by a run that
    was killed, are not asked again. The report compares the two wordings on the same pictures.

    \b
    convergebench undos --suite demo --judge openai:model=gpt-5.4-mini \\
      --out undos.toml
    convergebench generate --suite undos.toml --editor gemini --out runs/undos
    """
    from convergebench.generation import suites
    from convergebench.generation.files import write_whole
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.records import UserError
    from convergebench.metric_modules._judges import backends
    from convergebench.metric_modules._judges import undos as writing

    choice, loaded = backends.choose(spec), suites.load(suite)
    if out.suffix != ".toml" or out.stem in suites.names():
        raise UserError(f"{out} cannot name your suite; it must end in .toml and not be the name of a shipped suite")
    chosen = [loaded.program(id) for id in loaded.programs if not programs or id in programs]
    edits = [program for program in chosen if writing.has_one_undo(program)]
    if not edits:
        raise UserError(f"suite {suite!r} has none of these programs with one edit and one undo")
    if only_plan:
        calls, price = len(writing.to_ask(choice, edits, out)), writing.price_of_one(choice, edits)
        dollars = None if price is None else round(price * calls, 6)
        cost = "at an unknown price" if dollars is None else f"${dollars} at most"
        values = {"programs": len(edits), "calls": calls, "dollars": dollars}
        click.echo(json.dumps(values) if as_json else f"{calls} calls of {choice.label}, {cost}")
        return
    choice.require_ready()
    with progress_bar("undos", len(edits), "undos", as_json) as advance:
        outcome = writing.write_undos(choice, edits, out, max_cost, lambda: advance(1, ""))
    if any(undo.words for undo in outcome.undos):
        title = f"{loaded.title}: the suite's undos and those of {choice.label}"
        sizes = {"short_side": loaded.short_side, "rounds": loaded.rounds, "runs": loaded.runs}
        fields = {"title": title, "version": loaded.version, **sizes, "sources": list(loaded.sources)}
        write_whole(out, writing.suite_text(choice, outcome.undos, fields).encode())
    if not _print_outcome(outcome, out, as_json):
        sys.exit(1)


def _print_outcome(outcome: "Writing", out: Path, as_json: bool) -> bool:
    """Print what was written and what it cost; whether every edit has its undo."""
    missing = {undo.program.id: undo.reason for undo in outcome.undos if not undo.words}
    count = len(outcome.undos) - len(missing)
    if as_json:
        values: dict[str, object] = {
            "file": str(out) if out.exists() else None,
            "written": count,
            "stopped": outcome.stopped,
        }
        values |= {"dollars": round(outcome.spent, 6), "dollars_before": round(outcome.before, 6), "without": missing}
        click.echo(json.dumps(values))
    else:
        for program, reason in missing.items():
            click.echo(f"{program}: no undo, because {reason}", err=True)
        before = f" after ${outcome.before:.4f} before" if outcome.before else ""
        total = len(outcome.undos)
        click.echo(f"{out}: {count} of {total} undos, with the suite's own; ${outcome.spent:.4f} spent{before}")
    return not missing
