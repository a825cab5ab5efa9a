"""The course of one run under faults: how it is begun, hurt, looked at, and brought to its end."""

import contextlib
import itertools
import json
import multiprocessing
import os
import random
import sys
from collections import Counter

from convergebench.generation import pictures, store
from convergebench.generation.loop import at_chain_size
from counting import darker, digest
from faults import vendor
from vendors.loopback import wait_until_idle

FORK = multiprocessing.get_context("fork")
PATIENCE = 240.0  # seconds that a command may take on a busy machine before it counts as stuck
CONCURRENCY = 4  # calls in flight of one process
WORKERS = 6  # of one process; each may hold an answer that is not recorded yet, while others ask


class Wrong(AssertionError):
    """What must not happen."""


def same(ours, quiet):
    """Raise if files are others than those of commands that nothing disturbed, but for those set aside."""
    names = {name for name in {*ours, *quiet} if not name.startswith(".set-aside")}
    if other := sorted(name for name in names if ours.get(name) != quiet.get(name)):
        raise Wrong(f"silent: {other[:5]} of {len(other)} files differ from those of a quiet run")


class Command:
    """One command of ours under way, and what it has said."""

    def __init__(self, words, said, hurt=lambda: None):
        self.words, self.said_to = words, said
        self.process = FORK.Process(target=perform, args=(words, said, hurt))
        self.process.start()

    def send(self, number):
        """Send a signal; whether the command was still there."""
        if not self.process.is_alive():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(self.process.pid or 0), number)
        return True

    def end(self):
        """Its exit code once it has ended; None if it is stuck, and then it is killed."""
        self.process.join(PATIENCE)
        stuck = self.process.is_alive()
        if stuck:
            self.process.kill()
            self.process.join()
        return None if stuck else self.process.exitcode

    def said(self):
        return self.said_to.read_text(errors="replace") if self.said_to.exists() else ""


def perform(words, said, hurt):
    """In the forked process: the command, with its words in a file."""
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    random.seed()
    from convergebench.cli.__main__ import main

    hurt()
    main(words, prog_name="convergebench")


class Course:
    """A run, the words that make it, and what is known of it from outside."""

    full_disk_words = ("disk is full", "would pass the limit", "stopped:")

    def __init__(self, folder, suite, chance, shop, name):
        self.folder, self.suite, self.chance, self.shop = folder, suite, chance, shop
        self.disk = folder / "disk"
        self.run = self.disk / "run"
        self.key = f"till-{name}-{chance.randrange(10**12)}"
        self.runs, self.count = 1, 0
        self.limit = None
        self.lost = Counter()  # paid answers by seed that are in no store
        self.gone = Counter()  # paid answers that were recorded until their file was hurt
        if shop:
            os.environ["BFL_API_KEY"] = self.key
            options = f"timeout={vendor.TIMEOUT},concurrency={CONCURRENCY},poll=0.01"
            self.editors = [f"bfl:base_url={shop.address},{options}"]
            self.limit = chance.choice((200.0, 200.0, vendor.PRICE * chance.randrange(8, 60)))
        else:
            self.editors = chance.choice((("paint", "identity"), ("paint:wear=2", "jpeg"), ("jpeg", "noise")))

    def begin(self):
        """Nothing is there before the first command."""

    def words(self, out):
        found = ["generate", "--suite", str(self.suite), "--no-audit", "--runs", str(self.runs)]
        found += ["--workers", str(WORKERS), "--out", str(out)]
        for editor in self.editors:
            found += ["--editor", editor]
        if self.limit is not None:
            found += ["--max-cost", str(self.limit)]
        return found

    def start(self, hurt=lambda: None, words=()):
        """A command of ours under way, the run's own where no other is named."""
        self.count += 1
        return Command(
            list(map(str, words or self.words(self.run))), self.folder / f"said-{self.count}.txt", hurt
        )

    def start_next(self, hurt=lambda: None):
        """The run's command, with more to do if it is done, so that the next fault finds it under way."""
        folders = [*(self.run / "chains").glob("[!.]*")]
        if folders and all((path / "done.json").exists() for path in folders):
            self.runs += 1
        if self.shop:
            self.shop.weather.value = self.chance.random() < 0.7
        return self.start(hurt)

    def must(self, *words):
        """A command that has to succeed."""
        code, said = self.ask(*words)
        if code:
            raise Wrong(f"{words} ends with {code} and says {said[-1500:]}")

    def ask(self, *words):
        """A command from its beginning to its end."""
        command = self.start(words=words)
        code = command.end()
        self.look_at(command, code, (0, 1, 2))
        return code, command.said()

    def look_at(self, command, code, allowed):
        """What holds for whatever ended by itself."""
        said = command.said()
        if code is None:
            raise Wrong(f"stuck: {' '.join(command.words)}\n{said[-1500:]}")
        if "Traceback" in said:
            raise Wrong(f"traceback: {' '.join(command.words)}\n{said[-2500:]}")
        if code not in allowed:
            raise Wrong(f"exit code {code}: {' '.join(command.words)}\n{said[-1500:]}")

    # What was paid for, and what came of it

    def recorded(self):
        """How many answers each seed has in the store, those taken back included."""
        found = Counter()
        for folder in (self.run / "chains").glob("*") if (self.run / "chains").is_dir() else ():
            for path in (folder / "steps.jsonl", folder / ".retried.jsonl"):
                for line in path.read_bytes().split(b"\n")[:-1] if path.is_file() else ():
                    try:
                        step = json.loads(line)
                        found[step["seed"]] += step["status"] in ("ok", "refused", "no_image")
                    except (ValueError, TypeError, KeyError):
                        continue
        return +found

    def settle(self, in_flight, why):
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
        spent = self.shop.billed(self.key).total() * vendor.PRICE
        if self.limit is not None and spent > self.limit + 1e-9:
            raise Wrong(f"${spent:.3f} was billed of ${self.limit}")
        path, entries = self.run / "ledger" / "calls.jsonl", {}
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
            entry = {"call": "opening", **json.loads(line)}
            entries[entry["call"]] = entry.get("settled", entry.get("intent", entry.get("opening", 0.0)))
        if (counted := sum(entries.values())) < spent - 1e-9:
            raise Wrong(f"${spent:.3f} was billed, and the ledger counts ${counted:.3f}")

    @contextlib.contextmanager
    def counted(self):
        """Answers that leave the store in this block, or come back, are not lost: we took them."""
        before = self.recorded()
        yield
        self.gone.update(before)
        self.gone.subtract(self.recorded())

    # What is on the disk

    def files(self):
        found = [path for path in sorted(self.run.rglob("*")) if path.is_file() and path.name != ".lock"]
        return [path for path in found if ".set-aside" not in path.parts and path.suffix != ".part"]

    def mend(self, path, before):
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

    def finish(self):
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
        self.must("verify", self.run)
        left = [path for path in self.run.rglob("*.part") if ".set-aside" not in path.parts]  # that keeps all
        if left and not short:
            raise Wrong(f"left behind: {left[:3]}")
        if self.shop:
            self.check_answers(short)
        else:
            self.must(*self.words(self.folder / "quiet"))
            same(digest(self.run), digest(self.folder / "quiet"))

    def check_answers(self, short):
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
                    if (folder / str(step.file)).read_bytes() != darker(given, step.seed or 0):
                        raise Wrong(f"{folder}, step {step.step} is another answer")
                elif step is not steps[-1] or not (step.reason or step.text):
                    raise Wrong(f"{folder}, step {step.step} is {step.status} without a reason, or not the last")
