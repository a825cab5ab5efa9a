"""`convergebench score`: computes every metric of every step and adds it to the dataset."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._shared import executor_options, json_option

if TYPE_CHECKING:
    from convergebench.metric_modules._engine.engine import Outcome


@click.command("score")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--metrics",
    help="Only these, separated by commas; the others stay as they are. Default: all but optional ones, as niqe is.",
)
@click.option("--device", help="cpu or cuda. Default: cuda where there is one.")
@click.option("--dtype", help="float32, bfloat16 or float16. Default: bfloat16 where the hardware multiplies it.")
@click.option(
    "--batch-size",
    type=click.IntRange(1),
    help="How many pictures are computed at once. It changes memory, never results.",
)
@click.option(
    "--ssim-window",
    type=click.Choice(["gaussian", "uniform7"]),
    default="gaussian",
    show_default=True,
    help="The window of SSIM: 11 pixels, weighted, or 7 alike, as many published numbers have it.",
)
@click.option("--profile", is_flag=True, help="Print the share of time that each metric took.")
@click.option("--shard", metavar="I/N", help="Compute part I of N only; `score` without it takes all parts in.")
@executor_options
@json_option
def score(
    dataset: Path,
    metrics: str | None,
    device: str | None,
    dtype: str | None,
    batch_size: int | None,
    ssim_window: str,
    profile: bool,
    shard: str | None,
    executor: str | None,
    tasks: int | None,
    logs: str | None,
    executor_args: tuple[str, ...],
    as_json: bool,
) -> None:
    """Add scores and floors to a dataset; the same command again computes only what is missing.

    \b
    convergebench score convergebench
    convergebench score convergebench --metrics psnr,ssim --dtype float32
    convergebench score convergebench --metrics niqe,brisque,piqe
    accelerate launch --multi_gpu --num_processes 4 -m convergebench.metric_modules convergebench
    convergebench score convergebench --executor slurm --tasks 64 --executor-arg partition=cpu
    """
    asked = [name.strip() for name in metrics.split(",") if name.strip()] if metrics is not None else None
    from convergebench import metric_modules
    from convergebench.generation.cluster import parse_arguments

    outcome = metric_modules.score(
        dataset,
        asked,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        ssim_window=ssim_window,
        shard=shard,
        executor=executor,
        tasks=tasks,
        logs=logs,
        executor_args=parse_arguments(executor_args),
        quiet=as_json,
    )
    if outcome.submitted:
        click.echo(
            json.dumps({"submitted": True}) if as_json else f"{dataset}: submitted; the last task writes the scores"
        )
        return
    if shard is not None and not as_json:
        click.echo(f"{dataset}: part {shard}, {outcome.images} images scored; `convergebench score` takes all parts in")
        return
    if outcome.rank == 0 and as_json:
        click.echo(json.dumps(outcome.to_dict()))
    elif outcome.rank == 0:
        print_summary(dataset, outcome, profile)
    if outcome.damage:
        sys.exit(1)


def print_summary(dataset: Path, outcome: "Outcome", profile: bool = False) -> None:
    """Print the counts, and what has no score and why."""
    from convergebench.dataset_builder.building.card_tables import count_text

    rate = f" at {outcome.images / outcome.seconds:.1f} images/s" if outcome.images else ""
    click.echo(
        f"{dataset}: {count_text(outcome.rows, 'row')} of scores, {count_text(outcome.pairs, 'floor')}; "
        f"{count_text(outcome.images, 'image')} scored now{rate}"
    )
    if profile:
        for name, part in outcome.shares.items():
            click.echo(f"  {name:14} {part:6.1%} of the time")
    for name, reason in outcome.absent.items():
        click.echo(f"left out: {name}, because {reason}", err=True)
    for line in outcome.damage[:10]:
        click.echo(f"damaged: {line}", err=True)
    if len(outcome.damage) > 10:
        click.echo(f"damaged: {len(outcome.damage) - 10} more, with their reasons in the scores", err=True)
