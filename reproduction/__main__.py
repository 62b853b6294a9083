"""``python -m reproduction``: the paper's tables and figures, and a report with all of them."""

import sys

from reproduction.exits import exit_at_once, set_signal_handlers


def main() -> None:
    """Run the command that was typed."""
    set_signal_handlers(exit_at_once)  # the imports below take a second or two
    try:
        from reproduction.command import app
    except ImportError as error:
        sys.exit(
            f"The reproduction needs {error.name}, which is not installed (extra 'reproduction'): "
            f"pip install {error.name}, or pip install '.[reproduction]' in a clone of skliquid."
        )
    app(prog_name="python -m reproduction")


if __name__ == "__main__":
    main()
