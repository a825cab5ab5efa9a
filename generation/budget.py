"""Money: a hard stop that counts the calls in flight."""

import threading
from decimal import Decimal


class OverBudget(Exception):
    """The next call could pass the limit, so it is not made and the run stops."""


class Budget:
    """What may be spent, has been spent, and is held for calls in flight, in US dollars."""

    def __init__(self, limit: float | None = None, spent: float = 0.0):
        self.limit = None if limit is None else Decimal(str(limit))
        self.paid = Decimal(str(round(spent, 6)))  # a sum of floats is off by less than that
        self.held = Decimal(0)
        self.settled = threading.Condition()

    @property
    def spent(self) -> float:
        with self.settled:
            return float(self.paid)

    def hold(self, price: float) -> Decimal:
        """Sets the price of a call aside before it is made; waits for calls in flight that may leave room for it."""
        amount = Decimal(str(price))
        with self.settled:
            while self.limit is not None and self.paid + self.held + amount > self.limit:
                if self.paid + amount > self.limit or not self.held:
                    raise OverBudget(
                        f"${self.paid} is spent, so a call at ${amount} would pass the limit of ${self.limit}"
                    )
                self.settled.wait()
            self.held += amount
        return amount

    def settle(self, held: Decimal, cost: float) -> None:
        """The call is over: what it did cost takes the place of what was held."""
        with self.settled:
            self.held -= held
            self.paid += Decimal(str(cost))
            self.settled.notify_all()
