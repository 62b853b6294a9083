"""The readable twin of ``native/linear/kernels.cpp``."""

import math

PI_IN_THREE = tuple(
    map(float.fromhex, ("0x1.921fb54p+1", "0x1.10b46118p-29", "0x1.313198a2e0370p-60"))
)
"""Parts of pi, the first two of thirty bits, so that their multiples are exact for long."""

SINE = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(10, 0, -1))
"""sin x = x + x * (x^2 * (a polynomial in x^2 with these factors, the highest first))."""

FARTHEST_BY_POLYNOMIAL = 1e6


def cosine(x: float) -> float:
    """Return cos x by 1 - 2 sin^2(x / 2) and a polynomial; by the mathematics library if far out.

    Half of x is brought between -pi/2 and pi/2; the sign of the sine does not matter.
    """
    if not abs(x) <= FARTHEST_BY_POLYNOMIAL:
        return math.cos(x)
    half = 0.5 * x
    turns = float(math.floor(half * (1 / math.pi) + 0.5))
    for part in PI_IN_THREE:
        half -= turns * part
    square, tail = half * half, 0.0
    for factor in SINE:
        tail = tail * square + factor
    sine = half + half * (square * tail)
    return 1.0 - 2.0 * (sine * sine)
