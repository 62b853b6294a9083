"""Random numbers, bins and the exponential function, as the native core has them."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.native import MISSING_BIN

Numbers = NDArray[np.intp]


class Random:
    """Random numbers by splitmix64.

    Examples
    --------
    >>> hex(Random(0).next())
    '0xe220a8397b1dcdaf'
    """

    def __init__(self, seed: int):
        self.state = int(seed)

    def next(self) -> int:
        """Return 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def below(self, end: int) -> int:
        """Return a whole number from 0 to ``end - 1``."""
        return (self.next() >> 32) * end >> 32

    def bit(self) -> bool:
        """Return a random bit."""
        return self.next() >> 63 == 1


def draw_rows(random: Random, n: int, n_drawn: int) -> Numbers:
    """Return ``n_drawn`` of the numbers below ``n``, without replacement, in order."""
    drawn: list[int] = []
    for i in range(n):
        n_wanted = n_drawn - len(drawn)
        if n_wanted == n - i or random.below(n - i) < n_wanted:
            drawn.append(i)
    return np.array(drawn, dtype=np.intp)


def exponential(x: Floats) -> Floats:
    """Return e to the power of x, as 2 to the power of k times a polynomial, to 14 digits."""
    x = np.clip(x, -700.0, 700.0)
    k = np.rint(x * 1.4426950408889634)
    r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    power = np.full_like(r, 1.0 / math.factorial(11))
    for n in range(10, -1, -1):
        power = power * r + 1.0 / math.factorial(n)
    return np.asarray(np.ldexp(power, k.astype(int)))


def added(numbers: Iterable[Any]) -> Any:
    """Return the sum, adding one after the other: numpy and Python round it otherwise."""
    total: Any = 0.0
    for number in numbers:
        total = total + number
    return total


def softmax(scores: Floats) -> Floats:
    """Return class probabilities, one row per row of scores; one score is the log-odds."""
    if scores.shape[1] == 1:
        second = 1.0 / (1.0 + exponential(-scores))
        return np.hstack([1.0 - second, second])
    powers = exponential(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / added(powers.T)[:, None]
    return shares


def bin_of(x: float, edges: Floats) -> int:
    """Return the bin of a number: how many edges are below it."""
    return MISSING_BIN if math.isnan(x) else int(np.count_nonzero(edges < x))
