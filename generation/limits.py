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
    attempts: int = 6
    first_wait: float = 1.0  # seconds, doubled with every attempt
    longest_wait: float = 60.0
    failures: int = 5  # calls failed in a row before the run stops
    probes: int = 3  # calls in flight until the first one is answered


class Gate:
    """Lets callers through, as many at a time and in a minute as the limits say."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.room = threading.Condition()
        self.inside = 0
        self.allowed = min(limits.probes, limits.concurrency)
        self.started: deque[float] = deque()

    def open(self) -> None:
        """The first answer came: from now on the full concurrency."""
        with self.room:
            if self.allowed < self.limits.concurrency:
                self.allowed = self.limits.concurrency
                self.room.notify_all()

    @contextmanager
    def passing(self, stopping: threading.Event) -> Iterator[None]:
        with self.room:
            while not stopping.is_set():
                pause = self.pause()
                if self.inside < self.allowed and pause <= 0:
                    break
                self.room.wait(min(pause, 0.5) if pause > 0 else 0.5)
            self.inside += 1
            self.started.append(time.monotonic())
        try:
            yield
        finally:
            with self.room:
                self.inside -= 1
                self.room.notify()

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
