"""``python -m reproduction``: the paper's tables and figures, and a report with all of them."""

import sys

from reproduction.exits import exit_at_once, set_signal_handlers
from skliquid.validation.checks import missing_extra


def main() -> None:
    """Run the command that was typed."""
    set_signal_handlers(exit_at_once)  # the imports below take a second or two
    try:
        from reproduction.command import app
    except ImportError as error:
        sys.exit(str(missing_extra("The reproduction", error.name, "reproduction")))
    app(prog_name="python -m reproduction")


if __name__ == "__main__":
    main()
