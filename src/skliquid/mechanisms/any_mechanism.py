"""All mechanisms by name, revocable ones included, and what a parameter stands for."""

from dataclasses import replace
from typing import Any, TypeAlias

from skliquid.mechanisms.mechanism import Mechanism
from skliquid.mechanisms.named import NAMED, Pair, resolve
from skliquid.mechanisms.revocable import FastestLearners, Revocable

AnyMechanism: TypeAlias = Mechanism | Revocable

MECHANISMS: dict[str, AnyMechanism] = {
    **NAMED,
    "learning_slopes": Revocable("proportional_weighted", FastestLearners()),
}


def as_mechanism(mechanism: str | AnyMechanism | Pair, **changes: Any) -> AnyMechanism:
    """Return the mechanism that a name, a mechanism or a pair of functions stands for.

    Parameters
    ----------
    mechanism : str, Mechanism, Revocable or pair of callables
        A name in ``MECHANISMS``, a mechanism, or a pair (selection, probability).
    **changes : dict
        Fields of :class:`Mechanism` to replace, such as ``candidates`` and ``vote_weights``; of a
        :class:`Revocable`, those of the mechanism inside.

    Examples
    --------
    >>> any_voter = as_mechanism("proportional_weighted", candidates="voters")
    >>> any_voter.candidates, as_mechanism("proportional_weighted").candidates
    ('voters', 'representatives')
    """
    resolved = mechanism if isinstance(mechanism, Revocable) else resolve(mechanism, MECHANISMS)
    if not changes:
        return resolved
    if isinstance(resolved, Revocable):
        return replace(resolved, mechanism=replace(resolved.mechanism, **changes))
    return replace(resolved, **changes)
