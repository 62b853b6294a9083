"""The command line: ``skliquid train``, ``skliquid predict`` and lists."""

import sys

from skliquid.cli.ending import end_at_once, handle
from skliquid.validation.checks import missing_extra


def main() -> None:
    """Run the command that was typed."""
    handle(end_at_once)  # imports take some time
    try:
        from skliquid.cli.commands import skliquid_app
    except ImportError as error:
        sys.exit(str(missing_extra("The command line", error.name, "stream")))
    skliquid_app()()
