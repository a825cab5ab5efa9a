import click

from .._shared import json_option, print_rows


@click.command("suites", short_help="Suites, one line each.")
@json_option
def command(as_json: bool) -> None:
    """List the suites with their pictures, programs, rounds and runs, and the chains that one editor has.

    \b
    convergebench list suites
    """
    from convergebench.generation import suites

    rows: list[dict[str, str | int]] = []
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
    print_rows(rows, as_json, _text_of)


def _text_of(row: dict[str, str | int]) -> str:
    counts = ", ".join(f"{row[key]} {key}" for key in ("sources", "programs", "rounds", "runs", "chains"))
    return f"{row['name']:12} {row['title']}: {counts} an editor"
