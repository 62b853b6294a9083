"""Mutation testing of the algorithm: change its code in small ways, and see whether a test fails.

    python tools/mutants.py [MODULE ...] [--again] [--write docs/results/mutants.md]

mutmut makes the mutants and runs the tests. Its settings, the tests of each module and the reasons
why some mutants survive are in ``tools/mutants.toml``. Each module is mutated in a copy of the
repository, below ``out/mutants``. Exits with 1 when a mutant survives for no known reason.
"""

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

from skliquid.native import _core

ROOT = Path(__file__).parents[1]
COPIES = ROOT / "out" / "mutants"
SETTINGS = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text(encoding="utf-8"))
WORDING = "The wording of messages"
UNKNOWN = "No reason is known"
CAUGHT = ("killed", "timeout")

# The finder of an editable installation would import the original instead of the mutants.
MUTMUT = """
import sys
sys.meta_path[:] = [found for found in sys.meta_path if "ScikitBuild" not in type(found).__name__]
from mutmut.__main__ import cli
cli()
"""


class Mutant(NamedTuple):
    """A change of a function, and what the tests say of it; lines are only known of survivors."""

    function: str
    status: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def survives(self) -> bool:
        """Whether no test notices the change."""
        return self.status not in CAUGHT

    @property
    def name(self) -> str:
        """The function and its new code, by which ``tools/mutants.toml`` refers to the mutant."""
        code = " ".join(self.after or ("without", *self.before))
        return f"{self.function}: {code}"

    @property
    def reason(self) -> str:
        """Why the mutant survives: the title of a reason."""
        for title, reason in SETTINGS["reasons"].items():
            if self.name in reason["mutants"]:
                return str(title)
        return WORDING if changes_wording("".join(self.before), "".join(self.after)) else UNKNOWN


def changes_wording(before: str, after: str) -> bool:
    """Return whether code differs in one string, and that is a text and not a name."""
    strings = (code.split('"') for code in (before, after))
    differ = [old for old, new in zip(*strings, strict=False) if old != new]
    is_text = len(differ) == 1 and (" " in differ[0] or differ[0].endswith("."))
    return is_text and after.replace("XX", "").casefold() == before.casefold()


def copy_for(module: str) -> Path:
    """Make a copy of the repository for the mutants of ``module``, and return its path."""
    copy, settings = COPIES / module, SETTINGS["modules"][module]
    mutated = {ROOT / path for path in files_of(module)}

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "__pycache__" or Path(folder, name) in mutated]

    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=left_out, dirs_exist_ok=True)
    shutil.copy(_core.__file__, copy / "src" / "skliquid" / "native")
    for path in files_of(module):
        source = without_properties((ROOT / path).read_text(encoding="utf-8"))
        if not (copy / path).exists() or (copy / path).read_text(encoding="utf-8") != source:
            (copy / path).write_text(source, encoding="utf-8")
    options = SETTINGS["mutmut"] | {
        "only_mutate": [str(path) for path in files_of(module)],
        "pytest_add_cli_args_test_selection": settings["tests"],
    }
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in options.items()]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = f"{project}\n[tool.mutmut]\n{''.join(lines)}"
    (copy / "pyproject.toml").write_text(text, encoding="utf-8")
    return copy


def files_of(module: str) -> list[Path]:
    """Return the files of ``module``, relative to the root."""
    pattern = SETTINGS["modules"][module]["files"]
    return sorted(path.relative_to(ROOT) for path in ROOT.glob(pattern))


def without_properties(source: str) -> str:
    """Return ``source`` with its properties as plain functions: others mutmut does not mutate."""
    lines = source.splitlines()
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    for node in sorted(functions, key=lambda node: -node.lineno):
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        if decorators in (["property"], ["cached_property"]):
            name, function = node.name, f"{node.name}__property"
            lines.insert(node.end_lineno or 0, f"    {name} = {decorators[0]}({function})")
            first = node.lineno - 1
            lines[first] = lines[first].replace(f"def {name}", f"def {function}")
            del lines[first - 1]
    return "\n".join(lines) + "\n"


def run(module: str, *, again: bool) -> None:
    """Test the mutants of ``module`` one after the other: all, or those not caught yet."""
    if again:
        forget_survivors(module)
    else:
        shutil.rmtree(COPIES / module, ignore_errors=True)
    command = [sys.executable, "-c", MUTMUT, "run", "--max-children", "1"]
    subprocess.run(command, cwd=copy_for(module), check=True)


def forget_survivors(module: str) -> None:
    """Make mutmut test again what survived; new and changed functions it finds by itself."""
    with chdir(COPIES / module):
        for path in files_of(module):
            data = SourceFileMutationData(path=path)
            data.load()
            for key, exit_code in data.exit_code_by_key.items():
                if status_by_exit_code[exit_code] not in CAUGHT:
                    data.exit_code_by_key[key] = None
            data.save()


def mutants_of(module: str) -> list[Mutant]:
    """Return the mutants of ``module``, as they were tested last."""
    found = []
    with chdir(COPIES / module):
        for path in files_of(module):
            data = SourceFileMutationData(path=path)
            data.load()
            for key, exit_code in data.exit_code_by_key.items():
                mutant = Mutant(function_of(key), status_by_exit_code[exit_code])
                lines = lines_of(key, path) if mutant.survives else {}
                found.append(mutant._replace(**lines))
    return found


def function_of(key: str) -> str:
    """Return the function that a mutant is of, as in ``voting.Voting.is_soft``."""
    module, _, name = key.partition("__mutmut_")[0].rpartition(".")
    name = name.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".").removesuffix("__property")
    return f"{module.removeprefix('skliquid.')}.{name}"


def lines_of(key: str, path: Path) -> dict[str, tuple[str, ...]]:
    """Return the lines that a mutant changes, before and after."""
    lines = get_diff_for_mutant(key, path=path).splitlines()[2:]
    return {
        name: tuple(line[1:].strip() for line in lines if line.startswith(sign))
        for name, sign in (("before", "-"), ("after", "+"))
    }


def page(found: dict[str, list[Mutant]]) -> str:
    """Return the page of results."""
    survivors = [mutant for mutants in found.values() for mutant in mutants if mutant.survives]
    parts = [SETTINGS["page"]["introduction"], "\n".join(_table(found)), "## Survivors"]
    for title in [UNKNOWN, *SETTINGS["reasons"]]:
        mutants = [mutant for mutant in survivors if mutant.reason == title]
        if not mutants:
            continue
        why = SETTINGS["reasons"].get(title, {"why": ""})["why"]
        parts.append(f"### {title}\n\n{why} Mutants: {len(mutants)}.".replace("\n ", "\n"))
        if title == WORDING:
            counts = Counter(mutant.function for mutant in mutants)
            parts.append("\n".join(f"- `{name}`: {n}" for name, n in sorted(counts.items())))
        else:
            parts.append("```diff\n" + "\n".join(map(_diff, mutants)) + "\n```")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _table(found: dict[str, list[Mutant]]) -> list[str]:
    lines = [
        "| module | mutants | killed | timeouts | survivors | of these, wording of messages |",
        "|:-------|--------:|-------:|---------:|----------:|-----------------------------:|",
    ]
    together = [mutant for mutants in found.values() for mutant in mutants]
    for module, mutants in [*found.items(), ("all", together)]:
        n = Counter(mutant.status for mutant in mutants)
        reasons = [mutant.reason for mutant in mutants if mutant.survives]
        cells = [module, len(mutants), n["killed"], n["timeout"], len(reasons)]
        cells.append(reasons.count(WORDING))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _diff(mutant: Mutant) -> str:
    lines = [f"@@ {mutant.function} @@"]
    lines += [f"- {line}" for line in mutant.before] + [f"+ {line}" for line in mutant.after]
    return "\n".join(lines)


def main() -> None:
    """Test the mutants of some modules or of all, and write the page of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "modules", nargs="*", default=[], help="which modules; all if none is given"
    )
    parser.add_argument("--again", action="store_true", help="only what was not caught last time")
    parser.add_argument("--write", type=Path, help="the page of results")
    options = parser.parse_args()
    for module in options.modules or SETTINGS["modules"]:
        run(module, again=options.again)
    found = {name: mutants_of(name) for name in SETTINGS["modules"] if (COPIES / name).exists()}
    if options.write:
        options.write.write_text(page(found), encoding="utf-8")
    survivors = [mutant for mutants in found.values() for mutant in mutants if mutant.survives]
    unknown = [mutant.name for mutant in survivors if mutant.reason == UNKNOWN]
    explained = [name for reason in SETTINGS["reasons"].values() for name in reason["mutants"]]
    for name in unknown:
        print("survives for no known reason:", name)
    for name in set(explained) - {mutant.name for mutant in survivors}:
        print("is explained, and does not survive:", name)
    sys.exit(bool(unknown))


if __name__ == "__main__":
    main()
