"""The command line: ``skliquid train``, ``skliquid predict`` and lists."""

import sys

from skliquid.cli.ending import end_at_once, handle


def main() -> None:
    """Run the command that was typed."""
    handle(end_at_once)  # the imports below take a second or two
    try:
        from skliquid.cli.app import app_for

        app = app_for(sys.argv[1:])
    except ImportError as error:
        sys.exit(
            f"The commands of skliquid need {error.name}, which is not installed: "
            "pip install 'skliquid[stream]'."
        )
    app()
