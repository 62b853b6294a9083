"""Follow one fit through the source: how many functions, files and changes of file.

    python tools/trace_row.py [--rows 375] [--predict] [--way]

What is traced: ``LiquidEnsembleClassifier(random_state=0).fit(X, y)`` with the default parameters
on ``make_classification(375, random_state=0)``, which is 15 increments of 25 rows, in a process
that has imported everything but has not fitted before. ``--predict`` adds ``predict`` on one row.

- A *function* is a function or method defined in ``src/skliquid`` that is called at least once.
  Lambdas and comprehensions belong to the function around them.
- A *change of file* is a call, or a return, that moves from one file of the package to another.
  Frames outside the package (scikit-learn, numpy) are skipped: a call that passes through them
  counts as one move. Resuming a generator counts as a call, and yielding as a return.
- ``--way`` prints the files in the order in which they are entered, with repetitions collapsed.
"""

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import make_classification

import skliquid
from skliquid import LiquidEnsembleClassifier

PACKAGE = Path(skliquid.__file__).parent
LONGEST_REPETITION = 60


class Trace:
    """The functions of the package that a call runs through, and the files on its way."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.way: list[str] = []
        self._stack: list[str] = []

    def run(self, function: Callable[[], Any]) -> None:
        """Call ``function`` and follow it."""
        sys.setprofile(self._follow)
        try:
            function()
        finally:
            sys.setprofile(None)

    @property
    def changes(self) -> Counter[tuple[str, str]]:
        """How often the way leads from one file to another, by pair of files."""
        return Counter((here, there) for here, there in pairwise(self.way) if here != there)

    def _follow(self, frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event not in {"call", "return"} or not path.is_relative_to(PACKAGE):
            return
        file = path.relative_to(PACKAGE).as_posix()
        if event == "call":
            self._stack.append(file)
            self.way.append(file)
            if not frame.f_code.co_name.startswith("<"):
                self.functions.add((file, frame.f_code.co_qualname))
        else:
            self._stack.pop()
            self.way += self._stack[-1:]


def collapsed(files: list[str]) -> Iterator[str]:
    """Yield ``files`` with each run of equal sequences as one sequence and its count."""
    position = 0
    while position < len(files):
        length, n_times = _repetition(files[position:])
        block = " > ".join(files[position : position + length])
        yield f"({block}) x {n_times}" if n_times > 1 else block
        position += length * n_times


def _repetition(files: list[str]) -> tuple[int, int]:
    """Return the length of the sequence at the beginning that repeats most, and how often."""
    best = (1, 1)
    for length in range(1, min(LONGEST_REPETITION, len(files) // 2) + 1):
        n_times = 1
        while files[n_times * length : (n_times + 1) * length] == files[:length]:
            n_times += 1
        if n_times > 1 and n_times * length > best[0] * best[1]:
            best = (length, n_times)
    return best


def main() -> None:
    """Trace one fit and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=375, help="rows of the data")
    parser.add_argument("--predict", action="store_true", help="also predict one row")
    parser.add_argument("--way", action="store_true", help="print the files in order")
    options = parser.parse_args()
    X, y = make_classification(options.rows, random_state=0)
    ensemble = LiquidEnsembleClassifier(random_state=0)
    trace = Trace()
    trace.run(lambda: ensemble.fit(X, y))
    if options.predict:
        trace.run(lambda: ensemble.predict(X[:1]))
    print(f"functions:       {len(trace.functions):,}")
    print(f"files:           {len(set(trace.way)):,}")
    print(f"changes of file: {trace.changes.total():,}")
    for (here, there), n_times in trace.changes.most_common(8):
        print(f"  {n_times:5,}  {here} > {there}")
    if options.way:
        print("way:")
        print("\n".join(collapsed([file for file, _ in groupby(trace.way)])))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
