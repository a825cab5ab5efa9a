"""`convergebench undos`: asks a language model for the instructions that undo a suite's edits."""

import json
import sys
from pathlib import Path

import click

from ..._shared import json_option

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
    wanted = [loaded.program(id) for id in loaded.programs if not programs or id in programs]
    asked = [program for program in wanted if writing.has_one_undo(program)]
    if not asked:
        raise UserError(f"suite {suite!r} has none of these programs with one edit and one undo")
    known = writing.known_undos(out)
    about: dict[str, object]
    if only_plan:
        calls, price = len(writing.to_ask(choice, asked, out, known)), writing.price_of_one(choice, asked)
        dollars = None if price is None else round(price * calls, 6)
        about = {"programs": len(asked), "calls": calls, "dollars": dollars}
        cost = "at an unknown price" if dollars is None else f"${dollars} at most"
        click.echo(json.dumps(about) if as_json else f"{calls} calls of {choice.label}, {cost}")
        return
    if missing := backends.trait(choice.judge, "ready")():
        raise UserError(f"{choice.label} is not ready: {missing}")
    with progress_bar("undos", len(asked), "undos", as_json) as advance:
        done = writing.write_undos(choice, asked, out, known, max_cost, lambda: advance(1, ""))
    fields = {"title": f"{loaded.title}: the suite's undos and those of {choice.label}", "version": loaded.version,
              "short_side": loaded.short_side, "rounds": loaded.rounds, "runs": loaded.runs,
              "sources": list(loaded.sources)}  # fmt: skip
    without = [each for each in done.undos if not each.words]
    if len(without) < len(done.undos):
        write_whole(out, writing.suite_text(choice, done.undos, fields).encode())
    about = {
        "file": str(out) if out.exists() else None,
        "written": len(done.undos) - len(without),
        "dollars": round(done.spent, 6),
        "dollars_before": round(done.before, 6),
        "stopped": done.stopped,
    }
    if as_json:
        click.echo(json.dumps(about | {"without": {each.program.id: each.reason for each in without}}))
    else:
        for each in without:
            click.echo(f"{each.program.id}: no undo, because {each.reason}", err=True)
        before = f" after ${done.before:.4f} before" if done.before else ""
        click.echo(
            f"{out}: {about['written']} of {len(done.undos)} undos, and the suite's own beside them; "
            f"${done.spent:.4f} spent{before}"
        )
    if without:
        sys.exit(1)
