"""The command line: ``skliquid reproduce``, ``skliquid datasets``, ``skliquid mechanisms``."""

import sys


def main() -> None:
    """Run the command that was typed."""
    try:
        from skliquid.cli.app import app
    except ImportError as error:
        sys.exit(
            f"The commands of skliquid need {error.name}, which is not installed: "
            "pip install 'skliquid[experiments]'."
        )
    app()
