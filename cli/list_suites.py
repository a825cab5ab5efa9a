import json

import click

from ._shared import json_option


@click.command("suites", short_help="Suites, one line each.")
@json_option
def command(as_json: bool) -> None:
    """List the suites with their pictures, programs, rounds and runs, and the chains that one editor has.

    \b
    convergebench list suites
    """
    from convergebench.generation import suites

    rows = []
    for name in suites.names():
        suite = suites.load(name)
        chains = {
            (source.id, program.id, *sorted(variant.settings.items()), run)
            for variant in suite.variants
            for source, program in suites.cases(suite, variant)
            for run in range(variant.runs)
        }
        sizes = {"sources": len(suite.sources), "programs": len(suite.programs), "rounds": suite.rounds}
        rows.append({"name": name, "title": suite.title, **sizes, "runs": suite.runs, "chains": len(chains)})
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        counts = ", ".join(f"{row[key]} {key}" for key in ("sources", "programs", "rounds", "runs", "chains"))
        click.echo(f"{row['name']:12} {row['title']}: {counts} an editor")
