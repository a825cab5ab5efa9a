"""Which process this is, when accelerate launched several."""

import os


def rank_and_size() -> tuple[int, int]:
    """Rank and number of processes; refuses to start where every process would believe it is the first."""
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if expected == 1:
        return 0, 1
    import torch
    from accelerate import PartialState
    from convergebench.generation.records import UserError

    try:
        state = PartialState(cpu=not torch.accelerator.is_available())
    except ValueError as error:
        raise UserError(f"{expected} processes were launched but cannot meet: {error}") from error
    if state.num_processes != expected:
        raise UserError(
            f"{expected} processes were launched but each sees {state.num_processes}; "
            "on a machine without accelerators launch with --multi_gpu, not with --cpu"
        )
    return state.process_index, state.num_processes
