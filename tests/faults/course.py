"""The course of one run under faults: how it is begun, hurt, looked at, and brought to its end."""

import contextlib
import itertools
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from convergebench.generation import pictures, store
from convergebench.generation.loop import at_chain_size
from counting import digest
from faults import vendor
from faults.processes import Command
from PIL import Image
from vendors.loopback import wait_until_idle

CONCURRENCY = 4  # calls in flight of one process
WORKERS = 6  # of one process; each may hold an answer that is not recorded yet, while others ask


class Wrong(AssertionError):
    """What must not happen."""


def write_suite(folder: Path) -> Path:
    for seed, name in enumerate(("one", "two", "three")):
        path = folder / "shots" / "object" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        chance = Random(seed)
        noise = Image.frombytes("RGB", (8, 6), chance.randbytes(144)).resize((64, 48), Image.Resampling.BICUBIC)
        noise.save(path)
    return shutil.copy(Path(__file__).with_name("faults.toml"), folder)


class Course:
    """A run, the words that make it, and what is known of it from outside."""

    full_disk_words: tuple[str, ...] = ("disk is full", "would pass the limit", "stopped:")

    def __init__(self, folder: Path, suite: Path, chance: Random, shop: vendor.Vendor | None, name: str):
        self.folder, self.suite, self.chance, self.shop = folder, suite, chance, shop
        self.disk = folder / "disk"
        self.run = self.disk / "run"
        self.quiet = folder / "quiet"
        self.key = f"till-{name}-{chance.randrange(10**12)}"
        self.runs, self.count = 1, 0
        self.limit: float | None = None
        self.lost: Counter[int] = Counter()  # paid answers by seed that are in no store
        self.gone: Counter[int] = Counter()  # paid answers that were recorded until their file was hurt
        self.excused = 0  # calls in flight at each SIGKILL, at most
        if shop:
            os.environ["BFL_API_KEY"] = self.key
            self.editors = [f"till:base_url={shop.address},timeout={vendor.TIMEOUT},concurrency={CONCURRENCY}"]
            self.limit = chance.choice((200.0, 200.0, vendor.PRICE * chance.randrange(8, 60)))
        else:
            self.editors = list(
                chance.choice((("paint", "identity"), ("paint:wear=2", "jpeg"), ("jpeg", "noise")))
            )

    def begin(self) -> None:
        """Nothing is there before the first command."""

    def words(self, out: Path | None = None, *more: str) -> list[str]:
        found = ["generate", "--suite", str(self.suite), "--no-audit", "--runs", str(self.runs)]
        found += ["--workers", str(WORKERS)]
        for editor in self.editors:
            found += ["--editor", editor]
        if self.limit is not None:
            found += ["--max-cost", str(self.limit)]
        return [*found, *more, "--out", str(out or self.run)]

    def start(self, hurt: Callable[[], None] = lambda: None, words: list[str] | None = None) -> Command:
        """A command of ours under way, the run's own where no other is named."""
        self.count += 1
        return Command(words or self.words(), self.folder / f"said-{self.count}.txt", hurt)

    def next_words(self) -> list[str]:
        """The run's command, with more to do if it is done, so that the next fault finds it under way."""
        folders = [*(self.run / "chains").glob("[!.]*")]
        if folders and all((path / "done.json").exists() for path in folders):
            self.runs += 1
        if self.shop:
            self.shop.weather.value = self.chance.random() < 0.7
        return self.words()

    def start_next(self, hurt: Callable[[], None] = lambda: None) -> Command:
        return self.start(hurt, words=self.next_words())

    def ask(self, *words: str) -> tuple[int | None, str]:
        """A command from its beginning to its end."""
        command = self.start(words=list(map(str, words)))
        code = command.end()
        self.look_at(command, code, (0, 1, 2))
        return code, command.said()

    def look_at(self, command: Command, code: int | None, allowed: tuple[int, ...]) -> None:
        """What holds for whatever ended by itself."""
        said = command.said()
        if code is None:
            raise Wrong(f"stuck: {' '.join(command.words)}\n{said[-1500:]}")
        if "Traceback" in said:
            raise Wrong(f"traceback: {' '.join(command.words)}\n{said[-2500:]}")
        if code not in allowed:
            raise Wrong(f"exit code {code}: {' '.join(command.words)}\n{said[-1500:]}")

    # What was paid for, and what came of it

    def recorded(self) -> Counter[int]:
        """How many answers each seed has in the store, those taken back included."""
        found: Counter[int] = Counter()
        for folder in (self.run / "chains").glob("*") if (self.run / "chains").is_dir() else ():
            for path in (folder / "steps.jsonl", folder / ".retried.jsonl"):
                for line in path.read_bytes().split(b"\n")[:-1] if path.is_file() else ():
                    try:
                        step = json.loads(line)
                        found[step["seed"]] += step["status"] in ("ok", "refused", "no_image")
                    except (ValueError, TypeError, KeyError):
                        continue
        return +found

    def settle(self, in_flight: int, why: str) -> None:
        """After a command: the answers that are in no store are at most one of each worker when it died.

        An attempt that was billed and not answered is no answer; its money is in the ledger, as all money is.
        """
        if not self.shop:
            return
        wait_until_idle(self.shop.address)
        known = self.recorded() + self.gone + self.lost
        missing = self.shop.billed(self.key, answered=True) - known
        if missing.total() > in_flight:
            raise Wrong(f"{missing.total()} paid answers are lost by {why}, of {in_flight} at most: {missing}")
        self.lost += missing
        self.excused += in_flight
        self.check_bill()

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Answers that leave the store in this block, or come back, are not lost: we took them."""
        before = self.recorded()
        yield
        self.gone.update(before)
        self.gone.subtract(self.recorded())

    def check_bill(self) -> None:
        spent = self.shop.billed(self.key).total() * vendor.PRICE if self.shop else 0.0
        if self.limit is not None and spent > self.limit + 1e-9:
            raise Wrong(f"${spent:.3f} was billed of ${self.limit}")
        counted = self.in_ledger()
        if counted < spent - 1e-9:
            raise Wrong(f"${spent:.3f} was billed, and the ledger counts ${counted:.3f}")

    def in_ledger(self) -> float:
        """All that the run's ledger counts as spent."""
        entries: dict[str, float] = {}
        path = self.run / "ledger" / "calls.jsonl"
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
            entry = json.loads(line)
            entries[entry.get("call", "opening")] = entry.get(
                "settled", entry.get("intent", entry.get("opening", 0.0))
            )
        return sum(entries.values())

    # What is on the disk

    def files(self) -> list[Path]:
        found = [path for path in sorted(self.run.rglob("*")) if path.is_file() and path.name != ".lock"]
        return [path for path in found if ".set-aside" not in path.parts and path.suffix != ".part"]

    def mend(self, path: Path, before: bytes) -> None:
        """What a user does: verify with repair, the run again, and what only a person can restore is restored."""
        with self.counted():
            code, said = self.ask("verify", self.run, "--repair")
        if code == 1 and not said.strip():
            raise Wrong("verify says nothing and ends with 1")
        for _ in range(2):
            command = self.start()
            code = command.end()
            self.look_at(command, code, (0, 1, 2))
            said = command.said()
            if code == 0 or "would pass the limit" in said or "calls all failed" in said:
                return
            if "restore" not in said:
                raise Wrong(f"{path} was altered; the run ends with {code} and says {said[-800:]}")
            with self.counted():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(before)
        raise Wrong(f"{path} is restored, and the run still ends with {code}: {said[-800:]}")

    def finish(self) -> None:
        """Bring the run to its end in fine weather; then all must be as if nothing had happened."""
        if self.shop:
            self.shop.weather.value = 0
        for _ in range(4):
            command = self.start()
            code = command.end()
            self.look_at(command, code, (0, 1))
            self.settle(0, "the last run")
            if code == 0 or "would pass the limit" in command.said():
                break
        else:
            raise Wrong(f"the run does not come to its end: {command.said()[-1500:]}")
        short = code != 0
        code, said = self.ask("verify", self.run)
        if code:
            raise Wrong(f"at the end verify says: {said[-1500:]}")
        left = [path for path in self.run.rglob("*.part") if ".set-aside" not in path.parts]  # that keeps all
        if left and not short:
            raise Wrong(f"left behind: {left[:3]}")
        if self.shop:
            self.check_answers(short)
        else:
            self.compare_with_quiet()

    def check_answers(self, short: bool) -> None:
        """Each chain is complete or ends in a typed step, and each answer is the vendor's for the one before."""
        for folder in sorted((self.run / "chains").glob("[!.]*")):
            if not (folder / "done.json").exists():
                if not short:
                    raise Wrong(f"{folder} is not done")
                continue
            steps = store.recover_steps(folder)
            size = (steps[0].width or 0, steps[0].height or 0)
            for before, step in itertools.pairwise(steps):
                if step.status == "ok":
                    given = at_chain_size(pictures.decode((folder / str(before.file)).read_bytes()), size)
                    if (folder / str(step.file)).read_bytes() != vendor.answer(given, step.seed or 0):
                        raise Wrong(f"{folder}, step {step.step} is another answer")
                elif step is not steps[-1] or not (step.reason or step.text):
                    raise Wrong(f"{folder}, step {step.step} is {step.status} without a reason, or not the last")

    def compare_with_quiet(self) -> None:
        code, said = self.ask(*self.words(self.quiet))
        if code:
            raise Wrong(f"the quiet run fails: {said[-800:]}")
        ours, theirs = (
            {name: value for name, value in digest(folder).items() if not name.startswith(".set-aside")}
            for folder in (self.run, self.quiet)
        )
        if ours != theirs:
            other = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
            raise Wrong(f"silent: the run ends different from a quiet one: {other[:5]} of {len(other)}")

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
