"""How many calls may be in flight, and how many may start in a minute."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one editor may be asked of at a time, in a minute and in a row."""

    concurrency: int = 8
    requests_a_minute: int | None = None
    images_a_minute: int | None = None  # a call asks for one picture, so the lower of the two counts
    attempts: int = 10
    paid_attempts: int = 3  # of those that may have been billed, such as a connection that was cut
    first_wait: float = 0.1  # seconds, doubled with every attempt
    longest_wait: float = 60.0
    failures: int = 5  # calls failed in a row before the run stops
    probes: int = 3  # calls that may try until the first one is answered


class Gate:
    """Lets callers through, as many at a time and in a minute as the limits say."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.trying = threading.Condition()
        self.answered = False
        self.calls = 0
        self.door = threading.Lock()
        self.line: deque[threading.Condition] = deque()  # first come, first through: no chain falls behind the others
        self.inside = 0
        self.started: deque[float] = deque()

    def open(self) -> None:
        """The first answer came: the calls that waited for it may begin."""
        if not self.answered:
            with self.trying:
                self.answered = True
                self.trying.notify_all()

    @contextmanager
    def calling(self, stopping: threading.Event) -> Iterator[None]:
        """A whole call with its attempts; until one is answered only a few may try."""
        with self.trying:
            while not self.answered and self.calls >= self.limits.probes and not stopping.is_set():
                self.trying.wait(0.5)
            self.calls += 1
        try:
            yield
        finally:
            with self.trying:
                self.calls -= 1
                self.trying.notify()

    @contextmanager
    def passing(self, stopping: threading.Event, again: bool = False) -> Iterator[None]:
        """One attempt in flight; one that is made again has waited enough."""
        with self.door:
            turn = threading.Condition(self.door)
            (self.line.appendleft if again else self.line.append)(turn)
            while not stopping.is_set():
                pause = self.pause()
                if self.line[0] is turn and self.inside < self.limits.concurrency and pause <= 0:
                    break
                turn.wait(min(pause, 0.5) if pause > 0 else 0.5)
            self.line.remove(turn)
            self.inside += 1
            self.started.append(time.monotonic())
            self.next()
        try:
            yield
        finally:
            with self.door:
                self.inside -= 1
                self.next()

    def next(self) -> None:
        """Wake the one whose turn it is."""
        if self.line and self.inside < self.limits.concurrency:
            self.line[0].notify()

    def pause(self) -> float:
        """Seconds until another call may start."""
        rates = [rate for rate in (self.limits.requests_a_minute, self.limits.images_a_minute) if rate]
        if not rates:
            self.started.clear()
            return 0.0
        now = time.monotonic()
        while self.started and self.started[0] <= now - 60:
            self.started.popleft()
        return self.started[0] + 60 - now if len(self.started) >= min(rates) else 0.0
