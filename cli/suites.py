"""`convergebench suites`: what can be run, one line each."""

import json

import click


@click.command("suites")
@click.option("--json", "as_json", is_flag=True, help="For a machine.")
def suites(as_json: bool) -> None:
    """List the suites: how many pictures and programs, rounds and runs, and the chains that makes for one editor.

    \b
    convergebench suites
    """
    from convergebench.generation import suites as there

    rows = []
    for name in there.names():
        suite = there.load(name)
        chains = {
            (source.id, program.id, *sorted(variant.settings.items()), run)
            for variant in suite.variants
            for source, program in there.cases(suite, variant)
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
