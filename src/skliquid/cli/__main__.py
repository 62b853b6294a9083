"""``python -m skliquid.cli``."""

from skliquid.cli import main

main()
