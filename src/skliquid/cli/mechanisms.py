"""``skliquid mechanisms``: the mechanisms by name."""

from skliquid.cli.listing import print_list
from skliquid.mechanisms import MECHANISMS


def mechanisms() -> None:
    """List the delegation mechanisms."""
    rows = [
        [
            name,
            _first_line(mechanism.selection),
            _first_line(mechanism.probability),
            _first_line(mechanism.returns) if mechanism.returns else "No voter.",
        ]
        for name, mechanism in MECHANISMS.items()
    ]
    print_list("Mechanisms", ["name", "who delegates", "to whom", "who returns"], rows)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().splitlines()[0].partition(": the paper's")[0]
