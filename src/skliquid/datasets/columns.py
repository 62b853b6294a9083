"""Names of columns: checked, with a suggestion when one is misspelled."""

from collections.abc import Collection
from os import PathLike

from skliquid.checks import suggestion

_MOST_LISTED = 20


def check_column(
    name: str, columns: Collection[str], path: str | PathLike[str], *, parameter: str
) -> None:
    """Raise unless ``name`` is one of ``columns``, and suggest the closest one."""
    if name not in columns:
        dots = ["..."] if len(columns) > _MOST_LISTED else []
        listed = ", ".join([*list(columns)[:_MOST_LISTED], *dots])
        raise ValueError(
            f"{parameter} must be a column of {path}, which has {listed}: got {name!r}. "
            f"{suggestion(name, columns)}"
        )


def check_distinct(names: Collection[str], path: str | PathLike[str]) -> None:
    """Raise if two columns have the same name."""
    repeated = next((name for name in names if list(names).count(name) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"Columns must have different names: {path} has {repeated!r} more than once. Rename "
            "one; the first line of a CSV file must name the columns."
        )
