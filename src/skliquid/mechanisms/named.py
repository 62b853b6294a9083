"""Mechanisms by name. A new mechanism is one entry in ``MECHANISMS``."""

from dataclasses import replace
from typing import Any

from skliquid.mechanisms.mechanism import Mechanism
from skliquid.mechanisms.probability import (
    any_candidate,
    best_of_the_lightest,
    better,
    gain_of_the_better,
    gain_per_weight,
    none,
)
from skliquid.mechanisms.revocation import BetterThanGuru, FastestLearners, Revocation
from skliquid.mechanisms.selection import at_random, least_competent, nobody
from skliquid.validation.checks import suggestion

MECHANISMS: dict[str, Mechanism] = {
    "direct": Mechanism(nobody, none),
    "random": Mechanism(at_random, any_candidate),
    "max": Mechanism(least_competent, best_of_the_lightest, weight_of="candidate"),
    "random_better": Mechanism(least_competent, better),
    "proportional_better": Mechanism(least_competent, gain_of_the_better),
    "proportional_weighted": Mechanism(least_competent, gain_per_weight),
    "learning_slopes": Mechanism(least_competent, gain_per_weight, returns=FastestLearners()),
}

PAPER_MECHANISMS = tuple(MECHANISMS)[:6]

_BETTER_THAN_GURU = BetterThanGuru()


def as_mechanism(mechanism: Any, **changes: Any) -> Mechanism:
    """Return the mechanism that a name, a mechanism or a pair of functions stands for.

    Parameters
    ----------
    mechanism : str, Mechanism or pair of callables
        A name in ``MECHANISMS``, a mechanism, or a pair (selection, probability).
    **changes : dict
        Fields of :class:`Mechanism` to replace, such as ``candidates`` and ``vote_weights``.

    Examples
    --------
    >>> any_voter = as_mechanism("proportional_weighted", candidates="voters")
    >>> any_voter.candidates, as_mechanism("proportional_weighted").candidates
    ('voters', 'representatives')
    """
    if isinstance(mechanism, str) and mechanism in MECHANISMS:
        mechanism = MECHANISMS[mechanism]
    elif isinstance(mechanism, tuple) and len(mechanism) == 2:
        mechanism = Mechanism(*mechanism)
    if not isinstance(mechanism, Mechanism):
        is_name = isinstance(mechanism, str)
        way_out = (
            suggestion(mechanism, MECHANISMS) if is_name else "Give both functions, or a name."
        )
        raise ValueError(  # noqa: TRY004 (a wrong name is no wrong type)
            f"mechanism must be one of {', '.join(MECHANISMS)}, a Mechanism or a pair (selection, "
            f"probability) of functions: got {mechanism!r}. {way_out}"
        )
    return replace(mechanism, **changes) if changes else mechanism


def revocable(mechanism: Any, returns: Revocation = _BETTER_THAN_GURU) -> Mechanism:
    """Return a mechanism whose delegators may take their vote back, as suits concept drift.

    Parameters
    ----------
    mechanism : str, Mechanism or pair of callables
        By which voters delegate.
    returns : callable
        Which delegators return: :class:`BetterThanGuru` or :class:`FastestLearners`.

    Examples
    --------
    >>> revocable("max", BetterThanGuru(level=0.05)).is_revocable
    True
    """
    return as_mechanism(mechanism, returns=returns)
