"""Chain stores for tests, written file by file as the format says, without asking any editor."""

import hashlib
import io
import random
from dataclasses import replace

from convergebench.generation import store
from convergebench.generation.records import Chain, Program, Source, Step, canonical
from PIL import Image

TYPES = {"png": ("PNG", {}), "jpg": ("JPEG", {"quality": 80}), "webp": ("WEBP", {"quality": 80})}


def picture(seed, size=(24, 16), kind="png"):
    pixels = random.Random(seed).randbytes(size[0] * size[1] * 3)
    name, options = TYPES[kind]
    return encoded(Image.frombytes("RGB", size, pixels), name, **options)


def encoded(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def program(name="glasses"):
    return Program(name, (f"add {name}", f"remove {name}"), "accessories", True, "clear", shows=name, small=True)


def source(seed=1):
    data = picture(seed)
    digest = hashlib.sha256(data).hexdigest()
    return Source(f"source-{seed}", digest, 24, 16, "face", "real", "CC0-1.0", "Nobody | Noone", "Noise"), data


def chain(editor="jpeg:quality=40", seed=1, run=1, rounds=2, name="glasses"):
    return Chain(source(seed)[0], program(name), editor, {"short_side": 16, "quality": 40}, run, rounds)


def keep(run, made, kinds=("png",), ends="complete", done=True, reference=None, size=(24, 16), salt=0):
    """Write one chain. `ends` other than complete makes its last step one without a picture."""
    seed = int(made.source.id.removeprefix("source-"))
    answers = [
        picture(int(made.id, 16) + number + salt, size, kinds[(number - 1) % len(kinds)])
        for number, *_ in made.asks()
    ]
    if ends != "complete":
        answers[-1] = ends
    folder = begin(run, made, 16, source(seed)[1], reference)
    return fill(folder, made, picture(seed, size), answers, done)


def fill(folder, made, start, answers, done=True, reason="it would not"):
    """The steps of a chain: `answers` holds the bytes of each, or the status of a step without any."""
    steps, end = [kept(folder, Step(0, 0, 0, "", "input"), start)], "complete"
    for (number, *place), data in zip(made.asks(), answers, strict=False):
        step = Step(number, *place, "ok", seed=number, cost=0.04, details={"model": "m-1"})
        if isinstance(data, str):
            end = data
            steps.append(replace(step, status=end, reason=reason, text="I cannot do that."))
        else:
            steps.append(kept(folder, step, data))
    write(folder / "steps.jsonl", "".join(canonical(step.to_dict()) + "\n" for step in steps))
    if done:
        finish(folder, len(steps) - 1, end)
    return folder


def begin(run, made, short_side, original, reference):
    """All that a chain has before its first step."""
    store.open_run(run, {"short_side": short_side, "suite": "test", "suite_version": "1"})
    write(run / "sources" / f"{made.source.sha256}.png", original)
    folder = run / "chains" / made.id
    write(folder / "chain.json", canonical(made.to_dict()))
    if reference is not None:
        write(folder / "reference.png", reference)
    return folder


def kept(folder, step, data):
    opened, digest = Image.open(io.BytesIO(data)), hashlib.sha256(data).hexdigest()
    kind = str(opened.format).lower().replace("jpeg", "jpg")
    file, (width, height) = f"{step.step:04d}.{kind}", opened.size
    write(folder / file, data)
    return replace(step, file=file, sha256=digest, bytes=len(data), type=kind, width=width, height=height)


def finish(folder, steps, status="complete"):
    data = (folder / "steps.jsonl").read_bytes()
    made = store.describe_end(folder, store.parse_steps(folder / "steps.jsonl", data), data)
    write(folder / "done.json", canonical({**made, "status": status, "steps": steps}))


def built(out, *runs):
    """The dataset of these runs."""
    from convergebench.dataset_builder.building import build
    from convergebench.generation import store_reader

    build.build(store_reader.find_finished(runs), out)
    return out


def own_suite(folder, toml):
    """A suite of one's own and its three pictures."""
    for seed, name in enumerate(("one", "two", "three")):
        write(folder / "shots" / "object" / f"{name}.png", picture(seed, (96, 64)))
    write(folder / "mine.toml", toml)
    return folder / "mine.toml"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
