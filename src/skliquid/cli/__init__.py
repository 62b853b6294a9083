"""The command line: ``skliquid train``, ``skliquid predict``, ``skliquid reproduce`` and more."""

import sys


def main() -> None:
    """Run the command that was typed."""
    try:
        from skliquid.cli.app import app_for

        app = app_for(sys.argv[1:])
    except KeyboardInterrupt:  # what is imported above takes a second or two
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
    except ImportError as error:
        sys.exit(
            f"The commands of skliquid need {error.name}, which is not installed: "
            "pip install 'skliquid[experiments]', or 'skliquid[stream]' to train and predict alone."
        )
    app()
