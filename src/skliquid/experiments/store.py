"""The store: results of trials in one SQLite file that survives crashes."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias

import pandas as pd

from skliquid.experiments.methods import Result
from skliquid.experiments.protocols import PROTOCOLS, VARIATIONS
from skliquid.experiments.trial import Trial, code_version
from skliquid.replacing import replace_text, replacing

Outcome: TypeAlias = tuple[Trial, Result | None, str | None]
"""A trial with its result, or with the error it ended in."""

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
    """The file of a store holds something else, or cannot be read or written."""


class Store:
    """Results by trial.

    Every write is one transaction, on disk when the call returns; a process that is killed leaves
    all that it had written. There may be many readers and should be one writer.
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
        """Write results, or errors, of trials; when this returns they are on disk."""
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
        """Return those of ``trials``, each once, that have neither result nor error here."""
        stored, wanted = self._stored("key"), {trial.key: trial for trial in trials}
        return [trial for key, trial in wanted.items() if key not in stored]

    def results(self, trials: Iterable[Trial]) -> list[tuple[Trial, Result]]:
        """Return those of ``trials`` that have a result, in the order given, with it."""
        stored = self._stored("result")
        wanted = ((trial, stored.get(trial.key)) for trial in trials)
        return [(trial, json.loads(text)) for trial, text in wanted if text is not None]

    def errors(self, trials: Iterable[Trial]) -> list[tuple[Trial, str]]:
        """Return those of ``trials``, each once, that failed, with their errors."""
        stored, wanted = self._stored("error"), {trial.key: trial for trial in trials}
        return [(trial, stored[key]) for key, trial in wanted.items() if key in stored]

    def _stored(self, column: str) -> dict[str, str]:
        query = f"SELECT key, {column} FROM trials WHERE {column} IS NOT NULL"
        return dict(self._connection.execute(query))

    def forget_errors(self) -> None:
        """Forget trials that failed, so that they are tried again."""
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
            in_force = {name: str(rules[name]) for name in VARIATIONS}  # stated or not
            rows.append(row | method | in_force | json.loads(result or "{}"))
        return pd.DataFrame(rows)

    def export(self, folder: Path) -> list[Path]:
        """Write all trials as Parquet, and without their curves as CSV; return the files.

        What differs from run to run, when a trial finished and how long it took, goes into a
        separate file, so that the others are the same bytes whenever the results are.
        """
        frame = self.to_pandas()
        if frame.empty:
            return []
        files = [folder / name for name in ("trials.parquet", "trials.csv", "seconds.csv")]
        times = [name for name in ("finished", "seconds") if name in frame]
        replace_text(files[2], frame[["key", *times]].to_csv(index=False))
        frame = frame.drop(columns=times)
        with replacing(files[0]) as file:
            frame.to_parquet(file, index=False)
        without_curves = frame.drop(columns=frame.filter(regex="^curve_"))
        replace_text(files[1], without_curves.to_csv(index=False))
        return files
