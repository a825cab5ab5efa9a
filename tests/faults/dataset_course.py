"""The course of a dataset and its report under faults: built, scored and reported again and again, hurt meanwhile."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from counting import digest
from faults.course import Course, Wrong
from faults.processes import Command

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
        self.whole([*words, "--editor", "identity", "--editor", "jpeg", "--out", str(root / "run")])
        self.whole([*words, "--editor", "noise", "--out", str(root / "more")])
        self.truth = []
        for number, runs in enumerate(self.runs):
            place = root / f"truth-{number}"
            for words in commands(runs, place):
                self.whole(words)
            self.truth.append(contents(place))

    def whole(self, words: list[str]) -> None:
        self.course.folder.mkdir(exist_ok=True)
        code, said = self.course.ask(*words)
        if code:
            raise AssertionError(said)


def commands(runs: list[Path], place: Path) -> list[list[str]]:
    return [
        ["build", *map(str, runs), "--out", str(place / "mine")],
        ["score", str(place / "mine"), *METRICS],
        ["report", str(place / "mine"), "--out", str(place / "report")],
    ]


def contents(place: Path) -> dict[str, str]:
    """The dataset's files and the report's tables, by their hashes; what is hidden is for ourselves."""
    files = {f"mine/{name}": value for name, value in digest(place / "mine").items()}
    files |= {
        f"report/{name}": value for name, value in digest(place / "report").items() if name.endswith(".json")
    }
    hidden = [name for name in files if any(part.startswith(".") for part in name.split("/"))]
    return {name: value for name, value in files.items() if name not in {*hidden, *STRANGERS}}


class DatasetCourse(Course):
    """A dataset that is made of the one or the other set of runs."""

    full_disk_words = ("disk is full", "restore", "build", "score")

    def __init__(self, folder: Path, made: Made, chance: Random):
        super().__init__(folder, made.course.suite, chance, None, folder.name)
        self.made, self.which = made, 0

    def begin(self) -> None:
        for words in self.commands()[:2]:
            self.ask(*words)
        for name in STRANGERS:
            (self.disk / name).parent.mkdir(parents=True, exist_ok=True)
            (self.disk / name).write_text("theirs")

    def commands(self) -> list[list[str]]:
        return commands(self.made.runs[self.which], self.disk)

    def start_next(self, hurt: Callable[[], None] = lambda: None) -> Command:
        self.which = self.chance.randrange(2)
        return self.start(hurt, words=self.chance.choices(self.commands(), (3, 4, 2))[0])

    def files(self) -> list[Path]:
        theirs = {self.disk / name for name in STRANGERS}
        files = [
            path for path in sorted((self.disk / "mine").rglob("*")) if path.is_file() and path.name != ".lock"
        ]
        return [path for path in files if ".set-aside" not in path.parts and path not in theirs]

    def finish(self) -> None:
        """Made again, it is what it would have been; and nothing of others was touched."""
        self.which = self.chance.randrange(2)
        self.make_whole()
        expected, found = self.made.truth[self.which], contents(self.disk)
        if found != expected:
            other = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
            raise Wrong(f"silent: {other[:5]} of {len(other)} files are not those of a quiet run")
        if left := list(self.disk.rglob("*.part")):
            raise Wrong(f"left behind: {left[:3]}")

    def mend(self, path: Path, before: bytes) -> None:
        """Sometimes verify is asked at once, sometimes whatever comes next meets the damage."""
        if self.chance.random() < 0.5:
            self.make_whole()
        else:
            for words in self.commands()[self.chance.randrange(3) :]:
                self.ask(*words)
        self.check_strangers()

    def make_whole(self) -> None:
        """What a user does until the report is whole: verify with repair, and the three commands again."""
        said = ""
        for _ in range(3):
            if (self.disk / "mine" / "data").is_dir():
                self.ask("verify", self.disk / "mine", "--repair")
            for words in self.commands():
                code, said = self.ask(*words)
                if code:
                    self.move_away(said)
                    break
            else:
                break
        else:
            raise Wrong(f"the dataset cannot be mended: {said[-1200:]}")
        code, said = self.ask("verify", self.disk / "mine")
        if code:
            raise Wrong(f"at the end verify says: {said[-1200:]}")
        self.check_strangers()

    def move_away(self, said: str) -> None:
        """What `build` asks for if its damaged list does not know a file: only a person can say whose it is."""
        if named := re.search(r"/mine holds (.*), which `convergebench build` did not write", said):
            for name in named[1].split(" and ")[0].split(", "):
                shutil.move(self.disk / "mine" / name, self.folder / f"moved-{name.replace('/', '-')}")

    def check_strangers(self) -> None:
        for name in STRANGERS:
            path = self.disk / name
            if not path.exists() or path.read_text() != "theirs":
                raise Wrong(f"{name}, which is not ours, was touched")
