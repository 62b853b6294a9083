"""Replay: one HTML page that replays the delegations of a training."""

import json
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from skliquid.delegation.record import TrainingRecord
from skliquid.files.atomic_write import replace_text
from skliquid.plotting.fitted_record import record_of
from skliquid.plotting.replay_data import replay_data

_HEIGHT = 760  # of the frame in notebooks, in pixels
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}  # within a script


@dataclass(frozen=True)
class Replay:
    """A page that replays a training and shows every delegation.

    It is one HTML file that needs no other file and no network. Notebooks show it. With ``#embed``
    at the end of its address, it shows only the voters, and plays in a loop.

    Parameters
    ----------
    title : str
        The title of the page.
    data : dict
        The numbers, texts and lists of them that the page shows.
    """

    title: str
    data: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, record: TrainingRecord, *, title: str | None = None) -> "Replay":
        """Return the replay of a :class:`~skliquid.TrainingRecord`.

        Parameters
        ----------
        record : TrainingRecord
            The record, with at least one increment.
        title : str, default=None
            The title of the page; by default it says how many voters and representatives there are.
        """
        record = record_of(record, "record")
        return cls(_title_of(record) if title is None else title, replay_data(record))

    def page(self) -> str:
        """Return the page: a whole HTML document, the same for the same record."""
        folder = files("skliquid.plotting").joinpath("replay_page")
        names = ("page.html", "style.css", "bundle.js")
        page, css, script = (folder.joinpath(name).read_text("utf-8") for name in names)
        record = json.dumps(self.data, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)
        return Template(page).substitute(
            title=escape(self.title), style=css, record=record, script=script
        )

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, create its folder if it is missing, and return its path."""
        path = Path(path)
        if path.is_dir():
            raise ValueError(f"path must be a file: {path} is a folder. Give a name in it.")
        replace_text(path, self.page())
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.page())}" '
            f'sandbox="allow-scripts" width="100%" height="{_HEIGHT}" style="border:0"></iframe>'
        )


def replay(trained: Any, path: str | PathLike[str], *, title: str | None = None) -> Path:
    """Write a page that replays a training, and return its path.

    The page shows each delegation, curves of competence, accuracy and cost, and the properties of
    each voter. It is one HTML file that needs no other file and no network.

    Parameters
    ----------
    trained : fitted ensemble, Pipeline, search, StreamedModel or TrainingRecord
        A fitted ``LiquidEnsembleClassifier`` or ``PrunedEnsemble``, a pipeline or search that
        contains one, the model that ``train_on`` returns, or the record of a training.
    path : str or path
        The file to write, such as ``"replay.html"``; an older one is replaced.
    title : str, default=None
        The title of the page; by default it says how many voters and representatives there are.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier, replay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> replay(ensemble, "replay.html", title="Breast cancer")  # doctest: +SKIP
    PosixPath('replay.html')
    """
    return Replay.of(record_of(trained, "trained"), title=title).save(path)


def _title_of(record: TrainingRecord) -> str:
    n_voters, n_left = record[-1].graph.n_voters, record[-1].n_representatives
    if n_left == n_voters:
        return f"{n_voters} voters, all of them representatives"
    return f"How {n_voters} voters became {n_left} representative{'s' if n_left > 1 else ''}"
