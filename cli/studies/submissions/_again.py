"""Asks a submission's editors for some chains anew, to see whether the best of several attempts was submitted."""

import random
from math import ceil
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from convergebench import dataset_builder, metric_modules
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors, scheduler, suites
from convergebench.generation.plan import Plan
from convergebench.generation.records import FinishedChain, UserError
from convergebench.metric_modules.halflife.comparison import LEVEL, compare

_FEWEST = 8  # chains; fewer than six pictures can show nothing


def ask_again(folder: Path, share: float, seed: str) -> tuple[int, list[str]]:
    """How many chains were asked for again, and a sentence for each editor whose submitted ones are better."""
    chains = sorted(Reader(folder).chains(), key=lambda chain: chain.id)
    sample = random.Random(seed).sample(chains, min(len(chains), max(_FEWEST, ceil(share * len(chains)))))
    choices = tuple(editors.choose(label) for label in sorted({chain.editor for chain in sample}))
    plan = Plan(suites.load(sample[0].suite), choices, tuple(chain.chain for chain in sample))
    with TemporaryDirectory() as place:
        run, dataset = Path(place) / "run", Path(place) / "dataset"
        if not (outcome := scheduler.generate(plan, plan.chains, run)).clean:
            reason = outcome.stopped or [*outcome.left.values()][:1]
            raise UserError(f"the editor could not be asked again: {reason}")
        dataset_builder.build(run, dataset, quiet=True)
        metric_modules.score(dataset, ["psnr"], quiet=True)
        submitted, anew = _similarity(folder), _similarity(dataset)
    return len(sample), [
        sentence
        for choice in choices
        if (sentence := _better([c for c in sample if c.editor == choice.label], submitted, anew))
    ]


def _similarity(folder: Path) -> dict[str, float]:
    """The mean PSNR of each chain's answers; 0 if it has none."""
    values: dict[str, list[float]] = {}
    for row in Reader(folder).rows("scores", ["chain", "psnr"]):
        values.setdefault(row["chain"], []).append(row["psnr"] or 0.0)
    return {chain: fmean(of_one) for chain, of_one in values.items()}


def _better(chains: list[FinishedChain], submitted: dict[str, float], anew: dict[str, float]) -> str:
    sources = {chain.id: chain.source.id for chain in chains}
    first, second = ({id: values[id] for id in sources} for values in (submitted, anew))
    comparison = compare(("submitted", "again"), first, second, sources)
    if comparison.p_value is None or comparison.p_value > LEVEL or (comparison.difference or 0) <= 0:
        return ""
    gain = f"{comparison.difference:.1f} dB nearer to the originals than when it is asked again"
    return f"{chains[0].editor}: {comparison.cases} submitted chains are {gain} (p = {comparison.p_value:.3f})"
