"""Explanations of predictions: who decided a row, and by which columns.

``explaining.py`` has the function, ``explanation.py`` what it returns, ``scores.py`` the Shapley
values of one voter, and ``shares.py`` turns them into contributions to probabilities.
"""

from skliquid.explanation.explaining import explain
from skliquid.explanation.explanation import Explanation, Representative

__all__ = ["Explanation", "Representative", "explain"]
