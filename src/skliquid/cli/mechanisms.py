"""``skliquid mechanisms``: the mechanisms by name."""

from skliquid.cli.listing import print_list
from skliquid.mechanisms import MECHANISMS, Revocable


def mechanisms() -> None:
    """List the delegation mechanisms."""
    rows = []
    for name, named in MECHANISMS.items():
        returns = _first_line(named.returns) if isinstance(named, Revocable) else "Nobody."
        pair = named.mechanism if isinstance(named, Revocable) else named
        refined = ", ".join(map(repr, pair.refinements))
        to_whom = _first_line(pair.probability) + (f"; refined by {refined}" if refined else "")
        rows.append([name, _first_line(pair.selection), to_whom, returns])
    print_list("Mechanisms", ["name", "who delegates", "to whom", "who returns"], rows)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().splitlines()[0].partition(": the paper's")[0]
