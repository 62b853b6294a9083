"""Halves of the paper's datasets, split and prepared as in the reproduction."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # the reproduction is not installed

from reproduction.protocols import Halves, halves

__all__ = ["Halves", "halves"]
