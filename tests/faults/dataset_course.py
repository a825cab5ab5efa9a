"""The course of a dataset and its report under faults: built, scored and reported again and again, hurt meanwhile."""

import re
import shutil

from counting import digest
from faults.course import Course, Wrong, same

STRANGERS = (
    *("mine/thesis.txt", "mine/notes.txt", "mine/lpips/thesis.txt"),
    *("report/notes.txt", "report/figures/mine.svg"),
)


def contents(place):
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

    def __init__(self, folder, suite, chance, name):
        super().__init__(folder, suite, chance, None, name)
        self.which, self.run = 0, self.disk / "mine"

    def begin(self):
        for out, *self.editors in (("first", "identity", "jpeg"), ("more", "noise")):
            self.must(*self.words(self.folder / out), "--rounds", "2")
        for words in self.commands(self.disk)[:2]:
            self.must(*words)
        for name in STRANGERS:
            (self.disk / name).parent.mkdir(parents=True, exist_ok=True)
            (self.disk / name).write_text("theirs")

    def commands(self, place):
        runs = [self.folder / "first", self.folder / "more"][: self.which + 1]
        build = ("build", *runs, "--out", place / "mine")
        score = ("score", place / "mine", "--metrics", "psnr,ssim")
        return [build, score, ("report", place / "mine", "--out", place / "report")]

    def start_next(self, hurt=lambda: None):
        self.which = self.chance.randrange(2)
        return self.start(hurt, words=self.chance.choices(self.commands(self.disk), (3, 4, 2))[0])

    def files(self):
        theirs = {self.disk / name for name in STRANGERS}
        return [path for path in super().files() if path not in theirs]

    def finish(self):
        """Made again, it is what it would have been; and nothing of others was touched."""
        self.which = self.chance.randrange(2)
        self.make_whole()
        for words in self.commands(self.folder / "quiet"):
            self.must(*words)
        same(contents(self.disk), contents(self.folder / "quiet"))
        if left := list(self.disk.rglob("*.part")):
            raise Wrong(f"left behind: {left[:3]}")

    def mend(self, path, before):
        """Sometimes verify is asked at once, sometimes whatever comes next meets the damage."""
        if self.chance.random() < 0.5:
            self.make_whole()
        else:
            for words in self.commands(self.disk)[self.chance.randrange(3) :]:
                self.ask(*words)
        self.check_strangers()

    def make_whole(self):
        """What a user does until the report is whole: verify with repair, and the three commands again."""
        said = ""
        for _ in range(3):
            if (self.disk / "mine" / "data").is_dir():
                self.ask("verify", self.disk / "mine", "--repair")
            for words in self.commands(self.disk):
                code, said = self.ask(*words)
                if code:
                    self.move_away(said)
                    break
            else:
                break
        else:
            raise Wrong(f"the dataset cannot be mended: {said[-1200:]}")
        self.must("verify", self.disk / "mine")
        self.check_strangers()

    def move_away(self, said):
        """What `build` asks for if its damaged list does not know a file: only a person can say whose it is."""
        if named := re.search(r"/mine holds (.*), which `convergebench build` did not write", said):
            for name in named[1].split(" and ")[0].split(", "):
                shutil.move(self.disk / "mine" / name, self.folder / f"moved-{name.replace('/', '-')}")

    def check_strangers(self):
        for name in STRANGERS:
            path = self.disk / name
            if not path.exists() or path.read_text() != "theirs":
                raise Wrong(f"{name}, which is not ours, was touched")
