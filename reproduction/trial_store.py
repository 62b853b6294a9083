"""The store of trials: their results in one SQLite file that survives crashes."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias

import pandas as pd

from reproduction.methods import Result
from reproduction.output_files import write_whole
from reproduction.protocols import PROTOCOLS, VARIATIONS
from reproduction.trial import Trial, code_version

Outcome: TypeAlias = tuple[Trial, Result | None, str | None]
"""A trial with its result, or with its error."""

_text = partial(json.dumps, sort_keys=True)  # NaN is written as NaN and read as such
_COLUMNS = "key, code_version, trial, result, error, finished"
_SCHEMA = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=FULL;
CREATE TABLE IF NOT EXISTS trials (
    key TEXT PRIMARY KEY,
    code_version TEXT NOT NULL,
    trial TEXT NOT NULL,
    result TEXT,
    error TEXT,
    finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;
"""


class StoreDamagedError(OSError):
    """The file is not a store of trials, or cannot be read or written."""


class Store:
    """Results by trial.

    Every write is one transaction, on disk when the call returns; a process that is killed loses
    nothing that it had written. There may be many readers and should be one writer.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise NotADirectoryError(
                f"{self.path.parent} must be a folder, for results: it is a file, or in one. "
                "Choose another."
            ) from error
        try:
            self._connection = sqlite3.connect(path, timeout=60)
            self._connection.executescript(_SCHEMA)
            self._connection.execute(f"SELECT {_COLUMNS} FROM trials LIMIT 1")
        except sqlite3.Error as error:
            raise self._damage(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        self._connection.close()
        if isinstance(error, sqlite3.Error):
            raise self._damage(error) from error

    def _damage(self, error: BaseException) -> StoreDamagedError:
        return StoreDamagedError(
            f"{self.path} must be a store of trials that can be read and written: it is not "
            f"({error}). Move it away, or choose another folder."
        )

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Write results or errors of trials; when this returns, they are on disk."""
        rows = [
            (trial.key, code_version(), _text(asdict(trial)), result and _text(result), error)
            for trial, result, error in outcomes
        ]
        columns = "key, code_version, trial, result, error"
        with self._connection:
            self._connection.executemany(
                f"INSERT OR REPLACE INTO trials ({columns}) VALUES (?, ?, ?, ?, ?)", rows
            )

    def missing(self, trials: Iterable[Trial]) -> list[Trial]:
        """Return the ``trials`` without a result or an error, each once."""
        stored, wanted = self._stored("key"), {trial.key: trial for trial in trials}
        return [trial for key, trial in wanted.items() if key not in stored]

    def results(self, trials: Iterable[Trial]) -> list[tuple[Trial, Result]]:
        """Return the ``trials`` that have a result, with it, in the given order."""
        stored = self._stored("result")
        wanted = ((trial, stored.get(trial.key)) for trial in trials)
        return [(trial, json.loads(text)) for trial, text in wanted if text is not None]

    def errors(self, trials: Iterable[Trial]) -> list[tuple[Trial, str]]:
        """Return the ``trials`` that failed, each once, with their errors."""
        stored, wanted = self._stored("error"), {trial.key: trial for trial in trials}
        return [(trial, stored[key]) for key, trial in wanted.items() if key in stored]

    def _stored(self, column: str) -> dict[str, str]:
        query = f"SELECT key, {column} FROM trials WHERE {column} IS NOT NULL"
        return dict(self._connection.execute(query))

    def forget_errors(self) -> None:
        """Remove trials that failed, so that they are run again."""
        with self._connection:
            self._connection.execute("DELETE FROM trials WHERE error IS NOT NULL")

    def to_pandas(self) -> pd.DataFrame:
        """Return all trials as one table, one row per trial, with curves as lists."""
        rows = []
        stored = self._connection.execute(f"SELECT {_COLUMNS} FROM trials ORDER BY key")
        for key, code, trial, result, error, finished in stored:
            row = {"key": key, "code_version": code, "error": error, "finished": finished}
            row |= json.loads(trial)
            method = row.pop("method")
            rules = vars(PROTOCOLS[row["protocol"]].varied(method))
            applied = {name: str(rules[name]) for name in VARIATIONS}  # also those of the protocol
            rows.append(row | method | applied | json.loads(result or "{}"))
        return pd.DataFrame(rows)

    def export(self, folder: Path) -> list[Path]:
        """Write all trials as Parquet, and without their curves as CSV; return the files.

        Times differ from run to run. They go into a separate file, so that equal results give equal
        bytes in the others.
        """
        frame = self.to_pandas()
        if frame.empty:
            return []
        times = [name for name in ("finished", "seconds") if name in frame]
        results = frame.drop(columns=times)
        without_curves = results.drop(columns=results.filter(regex="^curve_"))
        contents: dict[Path, str | bytes] = {
            folder / "trials.parquet": results.to_parquet(index=False),
            folder / "trials.csv": without_curves.to_csv(index=False),
            folder / "seconds.csv": frame[["key", *times]].to_csv(index=False),
        }
        for path, content in contents.items():
            write_whole(path, content)
        return list(contents)
