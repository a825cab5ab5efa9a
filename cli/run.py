import json
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ._shared import PATH, json_option, plan_options, split_names

if TYPE_CHECKING:
    from convergebench.bench import Finished


@click.command("run", short_help="From an editor to its numbers: all of the next five; resumes.")
@plan_options
@click.option("--out", type=PATH, help="The folder of everything. Default: bench/SUITE.")
@click.option("--config", type=PATH, help="A bench.toml, such as a run leaves in its folder.")
@click.option("--metrics", callback=lambda *given: split_names(given[2]), help="Only these, separated by commas.")
@click.option("--push", metavar="NAMESPACE/NAME", help="Publish the dataset as its next version on the Hub.")
@click.option("--licence", help="Licence of your own pictures; publishing needs one.")
@click.option("--attribution", help="Who made them.")
@click.option("--fail-on-error", type=float, metavar="SHARE", help="Fail if more chains end without an answer.")
@click.option("--fail-under", type=float, metavar="ROUNDS", help="Fail if an editor keeps fewer rounds.")
@click.option("--workers", type=click.IntRange(1), help="Chains run at once.")
@click.option("--max-cost", type=click.FloatRange(0), help="Most US dollars that the run may cost.")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool, **options: Any) -> None:
    """Generate, build, score and report in one folder; the same command again resumes it.

    \b
    convergebench run --editor ./mine.py:edit --suite smoke
    convergebench run --config bench.toml --fail-under 2
    convergebench run --editor paint --out bench/paint --push NAMESPACE/NAME
    """
    import convergebench as cb
    from convergebench.bench import Failed

    arguments = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    try:
        _show(cb.run(arguments.pop("specs", ()), **arguments, quiet=as_json), as_json)
    except Failed as error:
        if error.finished:
            _show(error.finished, as_json)
        raise


def _show(finished: "Finished", as_json: bool) -> None:
    values = {"page": str(finished.board.page), "rows": finished.board.rows, "version": finished.version}
    click.echo(json.dumps(values) if as_json else finished)
