"""The command line: ``skliquid train``, ``skliquid predict``, ``skliquid reproduce`` and more."""

import sys


def main() -> None:
    """Run the command that was typed."""
    try:
        from skliquid.cli.app import app_for
    except ImportError as error:
        sys.exit(
            f"The commands of skliquid need {error.name}, which is not installed: "
            "pip install 'skliquid[experiments]', or 'skliquid[stream]' to train and predict alone."
        )
    app_for(sys.argv[1:])()
