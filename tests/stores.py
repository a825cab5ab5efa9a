"""Chain stores for tests, written file by file as the format says, without asking any editor."""

import hashlib
import io
import random
from dataclasses import replace
from pathlib import Path

from convergebench.generation import store
from convergebench.generation.records import Chain, Program, Source, Step, canonical
from PIL import Image

TYPES = {"png": ("PNG", {}), "jpg": ("JPEG", {"quality": 80}), "webp": ("WEBP", {"quality": 80})}


def picture(seed: int, size: tuple[int, int] = (24, 16), kind: str = "png") -> bytes:
    pixels = random.Random(seed).randbytes(size[0] * size[1] * 3)
    name, options = TYPES[kind]
    buffer = io.BytesIO()
    Image.frombytes("RGB", size, pixels).save(buffer, name, **options)
    return buffer.getvalue()


def program(name: str = "glasses") -> Program:
    return Program(name, (f"add {name}", f"remove {name}"), "accessories", True, "clear", shows=name, small=True)


def source(seed: int = 1) -> tuple[Source, bytes]:
    data = picture(seed)
    digest = hashlib.sha256(data).hexdigest()
    return Source(f"source-{seed}", digest, 24, 16, "face", "real", "CC0-1.0", "Nobody | Noone", "Noise"), data


def chain(
    editor: str = "jpeg:quality=40", seed: int = 1, run: int = 1, rounds: int = 2, name: str = "glasses"
) -> Chain:
    return Chain(source(seed)[0], program(name), editor, {"short_side": 16, "quality": 40}, run, rounds)


def keep(
    run: Path,
    made: Chain,
    kinds: str | tuple[str, ...] = "png",
    ends: str = "complete",
    done: bool = True,
    reference: bytes | None = None,
    size: tuple[int, int] = (24, 16),
    salt: int = 0,
) -> Path:
    """Write one chain. `ends` other than complete makes its last step one without a picture."""
    seed = int(made.source.id.removeprefix("source-"))
    folder = begin(run, made, 16, source(seed)[1], reference)
    steps = [kept(folder, Step(0, 0, 0, "", "input"), picture(seed, size), size)]
    asks = list(made.asks())
    for number, round, position, words in asks:
        step = Step(number, round, position, words, "ok", seed=number, cost=0.04, details={"model": "m-1"})
        if number == len(asks) and ends != "complete":
            steps.append(replace(step, status=ends, reason="it would not", text="I cannot do that."))
            continue
        kind = kinds if isinstance(kinds, str) else kinds[(number - 1) % len(kinds)]
        data = picture(int(made.id, 16) + number + salt, size, kind)
        steps.append(kept(folder, step, data, size, kind))
    write(folder / "steps.jsonl", "".join(canonical(step.to_dict()) + "\n" for step in steps))
    if done:
        finish(folder, len(steps) - 1, ends)
    return folder


def begin(run: Path, made: Chain, short_side: int, original: bytes, reference: bytes | None) -> Path:
    """All that a chain has before its first step."""
    store.open_run(run, {"short_side": short_side, "suite": "test", "suite_version": "1"})
    write(run / "sources" / f"{made.source.sha256}.png", original)
    folder = run / "chains" / made.id
    write(folder / "chain.json", canonical(made.to_dict()))
    if reference is not None:
        write(folder / "reference.png", reference)
    return folder


def kept(folder: Path, step: Step, data: bytes, size: tuple[int, int], kind: str = "png") -> Step:
    file = f"{step.step:04d}.{kind}"
    write(folder / file, data)
    digest = hashlib.sha256(data).hexdigest()
    return replace(step, file=file, sha256=digest, bytes=len(data), type=kind, width=size[0], height=size[1])


def finish(folder: Path, steps: int, status: str = "complete") -> None:
    data = (folder / "steps.jsonl").read_bytes()
    made = store.describe_end(folder, store.parse_steps(folder / "steps.jsonl", data), data)
    write(folder / "done.json", canonical({**made, "status": status, "steps": steps}))


def built(out: Path, *runs: Path) -> Path:
    """The dataset of these runs."""
    from convergebench.dataset_builder.building import build
    from convergebench.generation import store_reader

    build.build(store_reader.find_finished(runs), out)
    return out


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
