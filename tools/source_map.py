"""Write the map of the source into docs/how_it_is_built.md, from docstrings and import layers.

    python tools/source_map.py [--check]

The map lists every module below ``src/skliquid`` with the first sentence of its docstring, and the
import layers of ``pyproject.toml``. ``--check`` only compares, and fails if the page is stale.
"""

import argparse
import ast
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "skliquid"
PAGE = ROOT / "docs" / "how_it_is_built.md"
START, END = "<!-- map: made by tools/source_map.py -->", "<!-- end of the map -->"


def source_map() -> str:
    """Return the map as Markdown."""
    modules = sorted(PACKAGE.glob("*.py"))
    folders = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
    parts = [_table("file", modules), *map(_folder, folders)]
    return "\n\n".join([_layers(), *parts])


def _layers() -> str:
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    listed = "\n".join(f"{k}. {_code(layer)}" for k, layer in enumerate(layers, start=1))
    return f"### Import layers\n\n{listed}"


def _code(layer: str) -> str:
    return ", ".join(f"`{name.strip()}`" for name in layer.split("|"))


def _folder(folder: Path) -> str:
    sentence = _first_sentence(folder / "__init__.py")
    files = [path for path in sorted(folder.rglob("*.py")) if path != folder / "__init__.py"]
    heading = f"### `{folder.name}/`\n\n{sentence}"
    return f"{heading}\n\n{_table('file', files, below=folder)}" if files else heading


def _table(title: str, paths: list[Path], below: Path = PACKAGE) -> str:
    rows = [
        f"| `{path.relative_to(below).as_posix()}` | {_first_sentence(path)} |" for path in paths
    ]
    return "\n".join([f"| {title} | job |", "|---|---|", *rows])


def _first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return paragraph.replace("``", "`").replace("|", "\\|")


def updated(page: str) -> str:
    """Return the page with the map of the source as it is now."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{source_map()}\n\n{END}{after}"


def main() -> None:
    """Write the map, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare")
    page = PAGE.read_text(encoding="utf-8")
    new = updated(page)
    if not parser.parse_args().check:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        sys.exit("docs/how_it_is_built.md is stale: run python tools/source_map.py")


if __name__ == "__main__":
    main()
