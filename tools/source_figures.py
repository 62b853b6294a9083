"""Measure the size of the source: lines, long files, long functions, constructor parameters.

    python tools/source_figures.py [--files 5] [--functions 5]

Lines are all lines of the ``.py`` files below ``src``, blank lines and comments included. The
length of a function counts from its ``def`` to its last line, without its docstring.
"""

import argparse
import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from skliquid import LiquidEnsembleClassifier

SOURCE = Path(__file__).parents[1] / "src"
LONG_FILE = 300


def functions(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the length in lines and the place of each function in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = _n_lines(node) - (_n_lines(node.body[0]) if ast.get_docstring(node) else 0)
            yield length, f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}"


def _n_lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=5, help="how many long files to name")
    parser.add_argument("--functions", type=int, default=5, help="how many long functions to name")
    options = parser.parse_args()
    paths = sorted(SOURCE.rglob("*.py"))
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    longest_files = sorted(lengths, key=lambda path: -lengths[path])
    longest = sorted((place for path in paths for place in functions(path)), reverse=True)
    parameters = inspect.signature(LiquidEnsembleClassifier).parameters
    n_long = sum(length > LONG_FILE for length in lengths.values())
    print(f"lines of Python:        {sum(lengths.values()):,} in {len(paths)} files")
    print(f"lines per file:         median {median(lengths.values()):.0f}")
    print(f"files over {LONG_FILE} lines:   {n_long}")
    for path in longest_files[: options.files]:
        print(f"  {lengths[path]:5,}  {path.relative_to(SOURCE)}")
    print(f"lines per function:     median {median(length for length, _ in longest):.0f}")
    print(f"longest function:       {longest[0][0]}")
    for length, place in longest[: options.functions]:
        print(f"  {length:5,}  {place}")
    print(f"constructor parameters: {len(parameters)}")


if __name__ == "__main__":
    main()
