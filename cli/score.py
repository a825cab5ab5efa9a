import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import PATH, executor_options, json_option, split_names

if TYPE_CHECKING:
    from convergebench.metric_modules._engine.engine import Outcome

_MOST_DAMAGE_SHOWN = 10


@click.command("score", short_help="Add metrics and floors to a dataset; resumes.")
@click.argument("dataset", type=PATH)
@click.option(
    "--metrics", help="Names, separated by commas; other scores stay. Default: all but the optional ones."
)
@click.option("--device", help="cpu or cuda. Default: cuda if there is one.")
@click.option("--dtype", help="float32, bfloat16 or float16. Default: bfloat16 if the hardware supports it.")
@click.option(
    "--batch-size", type=click.IntRange(1), help="Pictures computed at once; changes memory, never results."
)
@executor_options
@json_option
def command(dataset: Path, metrics: str | None, shard: str | None, as_json: bool, **options: Any) -> None:
    """Add scores and floors to a dataset; the same command again computes only what is missing.

    \b
    convergebench score convergebench
    convergebench score convergebench --metrics psnr,ssim --dtype float32
    convergebench score convergebench --executor slurm --tasks 64 \\
      --executor-arg partition=cpu
    accelerate launch --multi_gpu --num_processes 4 -m \\
      convergebench.metric_modules convergebench
    """
    import convergebench as cb

    outcome = cb.score(dataset, split_names(metrics), shard=shard, quiet=as_json, **options)
    if outcome.submitted:
        sentence = f"{dataset}: submitted; the last task writes the scores"
        click.echo(json.dumps({"submitted": True}) if as_json else sentence)
        return
    if shard is not None and not as_json:
        done = f"part {shard}, {outcome.images} images scored"
        click.echo(f"{dataset}: {done}; `convergebench score` collects all parts")
        return
    if outcome.rank == 0 and as_json:
        click.echo(json.dumps(vars(outcome)))
    elif outcome.rank == 0:
        _print_summary(dataset, outcome)
    if outcome.damage:
        sys.exit(1)


def _print_summary(dataset: Path, outcome: "Outcome") -> None:
    from convergebench.bench import as_installed
    from convergebench.dataset_builder.building.card import count_text

    rate = f" at {outcome.images / outcome.seconds:.1f} images/s" if outcome.images else ""
    click.echo(
        f"{dataset}: {count_text(outcome.rows, 'row')} of scores, {count_text(outcome.pairs, 'floor')}; "
        f"{count_text(outcome.images, 'image')} scored now{rate}"
    )
    for name, reason in outcome.absent.items():
        click.echo(f"left out: {name}, because {as_installed(reason)}", err=True)
    for line in outcome.damage[:_MOST_DAMAGE_SHOWN]:
        click.echo(f"damaged: {line}", err=True)
    if len(outcome.damage) > _MOST_DAMAGE_SHOWN:
        more = len(outcome.damage) - _MOST_DAMAGE_SHOWN
        click.echo(f"damaged: {more} more, listed with their reasons in the scores", err=True)
