"""The store: results of trials in one SQLite file, of which none acknowledged is ever lost."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from skliquid.experiments.methods import Result
from skliquid.experiments.protocols import PROTOCOLS, VARIATIONS
from skliquid.experiments.trial import Trial, code_version

if TYPE_CHECKING:
    import pandas as pd

Outcome: TypeAlias = tuple[Trial, Result | None, str | None]
"""A trial with its result, or with the error it ended in."""

_COLUMNS = "key, code_version, trial, result, error, finished"
_TABLE = """
CREATE TABLE IF NOT EXISTS trials (
    key TEXT PRIMARY KEY,
    code_version TEXT NOT NULL,
    trial TEXT NOT NULL,
    result TEXT,
    error TEXT,
    finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID
"""


_TIMES = ("finished", "seconds")


class StoreDamaged(OSError):  # noqa: N818 (says what is the matter)
    """The file of a store holds something else, or cannot be read or written."""


class Store:
    """Results by trial.

    Every write is a transaction of its own, on disk when the call returns; a process that is
    killed leaves what it had written, whole. There may be many readers and should be one writer.
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
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            with self._connection:
                self._connection.execute(_TABLE)
            self._connection.execute(f"SELECT {_COLUMNS} FROM trials LIMIT 1")
        except sqlite3.Error as error:
            raise self._damage(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if isinstance(error, sqlite3.Error):
            raise self._damage(error) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _damage(self, error: BaseException) -> "StoreDamaged":
        return StoreDamaged(
            f"{self.path} must be a store of trials that can be read and written: it is not "
            f"({error}). Move it away, or choose another folder."
        )

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Write results, or errors, of trials; when this returns they are on disk."""
        rows = [
            (trial.key, code_version(), _text(asdict(trial)), result and _text(result), error)
            for trial, result, error in outcomes
        ]
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO trials (key, code_version, trial, result, error) "
                "VALUES (?, ?, ?, ?, ?)",
                rows,
            )

    def missing(self, trials: Iterable[Trial]) -> list[Trial]:
        """Return those of ``trials``, each once, that have no result and no error here."""
        done = {key for (key,) in self._connection.execute("SELECT key FROM trials")}
        wanted = {trial.key: trial for trial in trials}
        return [trial for key, trial in wanted.items() if key not in done]

    def results(self, trials: Iterable[Trial]) -> list[tuple[Trial, Result]]:
        """Return those of ``trials`` that have a result, in the order given, with it."""
        rows = self._connection.execute("SELECT key, result FROM trials WHERE result IS NOT NULL")
        known = dict(rows)
        wanted = ((trial, known.get(trial.key)) for trial in trials)
        return [(trial, _parsed(text)) for trial, text in wanted if text is not None]

    def errors(self, trials: Iterable[Trial]) -> list[tuple[Trial, str]]:
        """Return those of ``trials``, each once, that failed, with their errors."""
        known = dict(self._connection.execute("SELECT key, error FROM trials WHERE error NOT NULL"))
        wanted = {trial.key: trial for trial in trials}
        return [(trial, known[key]) for key, trial in wanted.items() if key in known]

    def forget_errors(self) -> None:
        """Forget trials that failed, so that they are tried again."""
        with self._connection:
            self._connection.execute("DELETE FROM trials WHERE error IS NOT NULL")

    def to_pandas(self) -> "pd.DataFrame":
        """Return all trials as one table, one row per trial, lists of curves as they are."""
        import pandas as pd

        return pd.DataFrame(list(self._rows()))

    def export(self, folder: Path) -> list[Path]:
        """Write all trials as Parquet, and without their curves as CSV; return the files.

        What differs from run to run, when a trial finished and how long it took, goes into a file
        of its own, so that the others are the same bytes whenever the results are.
        """
        frame = self.to_pandas()
        if frame.empty:
            return []
        names = ("trials.parquet", "trials.csv", "seconds.csv")
        files = [folder / name for name in names]
        times = [name for name in _TIMES if name in frame]
        frame[["key", *times]].to_csv(files[2], index=False)
        frame = frame.drop(columns=times)
        frame.to_parquet(files[0], index=False)
        curves = [name for name in frame if str(name).startswith("curve_")]
        frame.drop(columns=curves).to_csv(files[1], index=False)
        return files

    def _rows(self) -> Iterator[dict[str, Any]]:
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM trials ORDER BY key")
        for key, code, trial, result, error, finished in rows:
            known = {"key": key, "code_version": code, "error": error, "finished": finished}
            of_trial = json.loads(trial)
            method = of_trial.pop("method")
            rules = vars(PROTOCOLS[of_trial["protocol"]].varied(method))
            in_force = {name: str(rules[name]) for name in VARIATIONS}  # stated or not
            yield known | of_trial | method | in_force | (_parsed(result) if result else {})


def _text(values: Any) -> str:
    return json.dumps(values, sort_keys=True)  # not-a-number is written as NaN and read as such


def _parsed(text: str) -> Result:
    result: Result = json.loads(text)
    return result
