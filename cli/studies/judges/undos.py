import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..._shared import PATH, json_option
from .judge import exit_after_calls, plan_option

if TYPE_CHECKING:
    from convergebench.metric_modules._judges.journal import Outcome

SECTION = "ask models"


@click.command("undos", short_help="Have a model write the undo of each edit.")
@click.option("--suite", default="v1-mini", show_default=True, help="The suite whose edits are to be undone.")
@click.option("--judge", "spec", required=True, help="The model: openai or gemini with options, as for `judge`.")
@click.option("--program", "programs", multiple=True, help="Only this program; repeatable.")
@click.option("--out", type=PATH, required=True, help="The suite to write, such as undos.toml.")
@plan_option
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Most US dollars that the model may cost on this suite."
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

    The model sees the words of the edit and nothing else. An edit whose answer holds no instruction
    keeps the suite's own undo. Undos that were written before, or paid for by a run that was
    killed, are not asked again. The report compares the two wordings on the same pictures.

    \b
    convergebench undos --suite demo --judge openai:model=gpt-5.4-mini \\
      --out undos.toml
    convergebench generate --suite undos.toml --editor gemini --out runs/undos
    """
    from convergebench.generation import suites
    from convergebench.generation.files import write_whole
    from convergebench.generation.records import UserError
    from convergebench.metric_modules._judges import backends, undos

    judge, loaded = backends.choose(spec), suites.load(suite)
    if out.suffix != ".toml" or out.stem in suites.names():
        rule = "it must end in .toml and not be the name of a shipped suite"
        raise UserError(f"{out} cannot name your suite; {rule}")
    chosen = [loaded.program(id) for id in loaded.programs if not programs or id in programs]
    edits = [program for program in chosen if undos.has_one_undo(program)]
    if not edits:
        raise UserError(f"suite {suite!r} has none of these programs with one edit and one undo")
    calls, price = len(undos.missing_undos(judge, edits, out)), undos.most_dollars(judge, edits)
    if only_plan:
        dollars = None if price is None else round(price * calls, 6)
        cost = "at an unknown price" if dollars is None else f"${dollars} at most"
        values: dict[str, object] = {"programs": len(edits), "calls": calls, "dollars": dollars}
        click.echo(json.dumps(values) if as_json else f"{calls} calls of {judge.label}, {cost}")
        return
    judge.require_ready()
    words, reasons, outcome = undos.write_undos(judge, edits, out, max_cost, quiet=as_json)
    if words:
        title = f"{loaded.title}: the suite's undos and those of {judge.label}"
        sizes = {"short_side": loaded.short_side, "rounds": loaded.rounds, "runs": loaded.runs}
        fields = {"title": title, "version": loaded.version, **sizes, "sources": list(loaded.sources)}
        write_whole(out, undos.suite_text(judge, edits, words, reasons, fields).encode())
    if as_json:
        values = {"file": str(out) if out.exists() else None, "written": len(words), "stopped": outcome.stopped}
        money = {"dollars": round(outcome.spent, 6), "dollars_before": round(outcome.before, 6)}
        click.echo(json.dumps(values | money | {"without": reasons}))
    else:
        _print_outcome(f"{out}: {len(words)} of {len(edits)} undos", reasons, outcome)
    exit_after_calls(outcome.abandoned, not reasons)


def _print_outcome(written: str, reasons: Mapping[str, str], outcome: "Outcome") -> None:
    for program, reason in reasons.items():
        click.echo(f"{program}: the suite's own undo, because {reason}", err=True)
    before = f" after ${outcome.before:.4f} before" if outcome.before else ""
    click.echo(f"{written}, with the suite's own; ${outcome.spent:.4f} spent{before}")
