"""Checks: errors that name the parameter, the rule, the value and a way out."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from numbers import Integral, Real


def check_count(name: str, count: object, *, least: int = 1) -> int:
    """Return ``count`` as an integer, which must be ``least`` or more."""
    if not isinstance(count, Integral) or int(count) < least:
        raise ValueError(
            f"{name} must be a whole number of {least} or more: got {count!r}. Give an integer "
            f"like {least + 5}."
        )
    return int(count)


def check_number(
    name: str, number: object, rule: str, is_allowed: Callable[[float], bool], *, like: float
) -> None:
    """Raise unless ``number`` is a number that ``is_allowed`` by the ``rule``."""
    if not isinstance(number, Real) or not is_allowed(float(number)):
        raise ValueError(f"{name} must be {rule}: got {number!r}. Give a number like {like}.")


def check_n_final(n_final: int, n_voters: int, *, limit: str) -> None:
    """Raise unless ``n_final`` representatives can remain of ``n_voters``, given as ``limit``."""
    if check_count("n_final", n_final) > check_count(limit, n_voters):
        raise ValueError(
            f"n_final must not exceed {limit}: {n_final} representatives cannot remain of "
            f"{n_voters} voters. Lower n_final or raise {limit}."
        )


def suggestion(name: object, choices: Iterable[str]) -> str:
    """Return a question with the closest of ``choices``, or the advice to choose one of them.

    Examples
    --------
    >>> suggestion("Twon", ["age", "town"]), suggestion("xyz", ["age", "town"])
    ("Did you mean 'town'?", 'Choose one of them.')
    """
    spellings = {choice.strip().casefold(): choice for choice in choices}
    nearest = get_close_matches(str(name).strip().casefold(), spellings, n=1)
    return f"Did you mean {spellings[nearest[0]]!r}?" if nearest else "Choose one of them."


def printable(text: object, *, keep: str = "") -> str:
    r"""Return text in which characters that a terminal would obey are escaped, except ``keep``.

    Names and labels come from data, and may hold anything. ``repr`` escapes the same characters.

    Examples
    --------
    >>> printable("red" + chr(27)) == r"red\x1b"
    True
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in shown)


def missing_extra(feature: str, package: str | None, extra: str) -> ImportError:
    """Return the error of a ``feature`` that needs a ``package`` of an ``extra``.

    Examples
    --------
    >>> print(missing_extra("A model file", "safetensors", "files"))
    A model file needs safetensors, which is not installed (extra 'files'): pip install \
safetensors, or pip install '.[files]' in a clone of skliquid.
    """
    return ImportError(
        f"{feature} needs {package}, which is not installed (extra {extra!r}): pip install "
        f"{package}, or pip install '.[{extra}]' in a clone of skliquid.",
        name=package,
    )
