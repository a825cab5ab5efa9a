"""The course of a dataset and its report under faults: built, scored and reported again and again, hurt meanwhile."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from counting import digest
from faults import injuries, processes
from faults.store_course import Course, Wrong
from fuzz.mutations import flipped

METRICS = ("--metrics", "psnr,ssim")
STRANGERS = (
    "mine/thesis.txt",
    "mine/notes.txt",
    "mine/lpips/thesis.txt",
    "report/notes.txt",
    "report/figures/mine.svg",
)


class Made:
    """What is made once: a small run, a larger one with it, and the datasets and tables that they must become."""

    def __init__(self, root: Path, suite: Path):
        self.course = Course(root / "made", suite, Random(0), None, "made")
        self.runs: list[list[Path]] = [[root / "run"], [root / "run", root / "more"]]
        words = ["generate", "--suite", str(suite), "--no-audit", "--rounds", "2"]
        self.whole("made", [*words, "--editor", "identity", "--editor", "jpeg", "--out", str(root / "run")])
        self.whole("made", [*words, "--editor", "noise", "--out", str(root / "more")])
        self.truth = []
        for number, runs in enumerate(self.runs):
            place = root / f"truth-{number}"
            for words in commands(runs, place):
                self.whole("truth", words)
            self.truth.append(contents(place))

    def whole(self, why: str, words: list[str]) -> None:
        self.course.folder.mkdir(exist_ok=True)
        code, said = self.course.ask(*words)
        if code:
            raise AssertionError(f"{why}: {said}")


def commands(runs: list[Path], place: Path) -> list[list[str]]:
    """What brings a dataset and its report up to date."""
    return [
        ["build", *map(str, runs), "--out", str(place / "mine")],
        ["score", str(place / "mine"), *METRICS],
        ["report", str(place / "mine"), "--out", str(place / "report")],
    ]


def contents(place: Path) -> dict[str, str]:
    """The dataset's files and the report's tables, by their hashes; what is hidden is for ourselves."""
    files = {f"mine/{name}": value for name, value in digest(place / "mine").items()}
    files |= {f"report/{name}": value for name, value in digest(place / "report").items() if name.endswith(".json")}
    hidden = [name for name in files if any(part.startswith(".") for part in name.split("/"))]
    return {name: value for name, value in files.items() if name not in {*hidden, *STRANGERS}}


class DatasetCourse(Course):
    """A dataset that is made of the one or the other set of runs."""

    def __init__(self, folder: Path, made: Made, chance: Random):
        super().__init__(folder, made.course.suite, chance, None, folder.name)
        self.made, self.place = made, folder / "disk"
        self.which = 0

    def begin(self) -> None:
        for name in STRANGERS:
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
        for words in self.commands()[:2]:
            self.ask(*words)
        for name in STRANGERS:
            (self.place / name).write_text("theirs")

    def commands(self) -> list[list[str]]:
        return commands(self.made.runs[self.which], self.place)

    def next_command(self) -> list[str]:
        self.which = self.chance.randrange(2)
        return self.chance.choices(self.commands(), (3, 4, 2))[0]

    def files(self) -> list[Path]:
        found = [path for path in sorted((self.place / "mine").rglob("*")) if path.is_file() and path.name != ".lock"]
        theirs = {self.place / name for name in STRANGERS}
        return [path for path in found if ".set-aside" not in path.parts and path not in theirs]

    def finish(self) -> None:
        """Made again, it is what it would have been; and nothing of others was touched."""
        self.which = self.chance.randrange(2)
        self.mend()
        expected, found = self.made.truth[self.which], contents(self.place)
        if found != expected:
            other = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
            raise Wrong(f"silent: {other[:5]} of {len(other)} files are not those of a quiet run")
        if left := list(self.place.rglob("*.part")):
            raise Wrong(f"left behind: {left[:3]}")

    def mend(self) -> None:
        """What a user does until the report is whole: verify with repair, and the three commands again."""
        said = ""
        for _ in range(3):
            if (self.place / "mine" / "data").is_dir():
                self.ask("verify", self.place / "mine", "--repair")
            codes = []
            for words in self.commands():
                code, said = self.ask(*words)
                codes.append(code)
                if code:
                    break
            if not any(codes):
                break
        else:
            raise Wrong(f"the dataset cannot be mended: {said[-1200:]}")
        code, said = self.ask("verify", self.place / "mine")
        if code:
            raise Wrong(f"at the end verify says: {said[-1200:]}")
        self.check_strangers()

    def check_strangers(self) -> None:
        for name in STRANGERS:
            path = self.place / name
            if not path.exists() or path.read_text() != "theirs":
                raise Wrong(f"{name}, which is not ours, was touched")


def signalled(number: int) -> Callable[[DatasetCourse], bool]:
    def injury(course: DatasetCourse) -> bool:
        command = course.start(words=course.next_command())
        injuries.moment(course, 0.8)
        met = command.send(number)
        course.look_at(command, command.end(), (*injuries.SIGNALLED, 2, -number))
        return met

    return injury


def slowly(course: DatasetCourse) -> bool:
    command = course.start(processes.with_slow_disk(course.chance), words=course.next_command())
    injuries.moment(course, 1.2)
    met = command.send(signal.SIGKILL)
    course.look_at(command, command.end(), (0, 1, 2, -signal.SIGKILL))
    return met


def without_memory(course: DatasetCourse) -> bool:
    command = course.start(processes.with_little_memory(course.chance), words=course.next_command())
    code = command.end()
    if code is None:
        raise Wrong(f"stuck without memory: {command.said()[-800:]}")
    return code != 0


def two_at_once(course: DatasetCourse) -> bool:
    crowd = [course.start(words=course.next_command()) for _ in range(2)]
    injuries.moment(course, 0.6)
    if course.chance.random() < 0.4:
        crowd[0].send(signal.SIGKILL)
    for command in crowd:
        course.look_at(command, command.end(), (0, 1, 2, -signal.SIGKILL))
    return True


def full(course: DatasetCourse) -> bool:
    ballast, early = course.place / "ballast", course.chance.random() < 0.5
    if early:
        injuries.fill(ballast, course.chance.choice((0, 4_096, 60_000, 400_000)))
    command = course.start(words=course.next_command())
    if not early:
        time.sleep(course.chance.uniform(0, 0.5))
        injuries.fill(ballast, course.chance.choice((0, 20_000)))
    code = command.end()
    ballast.unlink()
    course.look_at(command, code, (0, 1, 2))
    if code and not any(word in command.said() for word in ("disk is full", "restore", "build", "score")):
        raise Wrong(f"a full disk ends with {code} and says {command.said()[-600:]}")
    return code != 0


def read_only(course: DatasetCourse) -> bool:
    with injuries.only_read(course.place):
        command = course.start(words=course.next_command())
        code = command.end()
    course.look_at(command, code, (1, 2))
    return True


def damaged(how: str) -> Callable[[DatasetCourse], bool]:
    """A file is another; sometimes verify is asked at once, sometimes whatever comes next meets it."""

    def injury(course: DatasetCourse) -> bool:
        files = [path for path in course.files() if path.stat().st_size]
        if not files:
            return False
        path, chance = course.chance.choice(files), course.chance
        data = path.read_bytes()
        others = [each for each in files if each.suffix == path.suffix] or [path]
        place = chance.randrange(len(data))
        ways = {
            "bit flip": lambda: flipped(data, place, chance),
            "truncation": lambda: data[:place],
            "zeros": lambda: data[:place] + bytes(len(data) - place),
            "swap": lambda: chance.choice(others).read_bytes(),
        }
        path.unlink()
        if how != "file gone":
            path.write_bytes(ways[how]())
        if chance.random() < 0.5:
            course.mend()
        else:
            for words in course.commands()[chance.randrange(3) :]:
                course.ask(*words)
        course.check_strangers()
        return True

    return injury


DATASET: dict[str, tuple[Callable[[DatasetCourse], bool], float]] = {
    "kill": (signalled(signal.SIGKILL), 8),
    "SIGTERM": (signalled(signal.SIGTERM), 3),
    "Ctrl-C": (signalled(signal.SIGINT), 3),
    "slow disk": (slowly, 2),
    "out of memory": (without_memory, 3),
    "two runs at once": (two_at_once, 3),
    "disk full": (full, 3),
    "disk read-only": (read_only, 1),
    **{how: (damaged(how), 3) for how in ("bit flip", "truncation", "zeros", "swap", "file gone")},
}  # each with its share
