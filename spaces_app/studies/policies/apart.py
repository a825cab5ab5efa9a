"""Lists editors under a policy apart: they are compared with the same editor alone, not ranked among the others."""

from ...analysis.analysis import Analysis


def reasons(analysis: Analysis) -> dict[str, tuple[str, ...]]:
    return {chain.editor: (f"runs under the policy {chain.policy}",) for chain in analysis.chains if chain.policy}
