"""Replay: one page that replays how voters delegated in a training."""

import json
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from skliquid.html.replay_data import replay_data
from skliquid.replacing import replace_text

_HEIGHT = 760  # of the frame in notebooks, in pixels
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}  # within a script


@dataclass(frozen=True)
class Replay:
    """A page that replays a training, on which every delegation can be seen.

    It is one HTML file that needs no other file and no network. Notebooks show it. With ``#embed``
    at the end of its address, it shows only the voters, and plays in a loop.

    Parameters
    ----------
    title : str
        The title of the page.
    data : dict
        What it shows: numbers, texts and lists of them.
    """

    title: str
    data: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, record: Any, *, title: str | None = None) -> "Replay":
        """Return the replay of a :class:`~skliquid.TrainingRecord`.

        Parameters
        ----------
        record : TrainingRecord
            The record, with one increment at least.
        title : str, default=None
            The title of the page; by default it says how many voters and representatives there are.
        """
        if not len(record):
            raise ValueError(
                "A replay needs a training with one increment at least: the record has none. "
                "Call fit or partial_fit first."
            )
        return cls(_title_of(record) if title is None else title, replay_data(record))

    def page(self) -> str:
        """Return the page: a whole HTML document, the same for the same record."""
        parts = files("skliquid.html").joinpath("replay_page")
        text = {
            name: parts.joinpath(name).read_text("utf-8") for name in ("style.css", "bundle.js")
        }
        record = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        return Template(parts.joinpath("page.html").read_text("utf-8")).substitute(
            title=escape(self.title),
            style=text["style.css"],
            record=record.translate(_UNSAFE),
            script=text["bundle.js"],
        )

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, whose folder is created if need be, and return its path."""
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

    The page shows each delegation, curves of competence, accuracy and cost, and what is known of
    each voter. It is one HTML file that needs no other file and no network.

    Parameters
    ----------
    trained : fitted ensemble, Pipeline, StreamedModel or TrainingRecord
        What was trained: a fitted ``LiquidEnsembleClassifier`` or ``PrunedEnsemble``, a pipeline
        that ends in one, what ``train_on`` returns, or the record of a training.
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
    return Replay.of(_record_of(trained), title=title).save(path)


def _title_of(record: Any) -> str:
    n_voters, n_left = record[-1].graph.n_voters, record[-1].n_representatives
    if n_left == n_voters:
        return f"{n_voters} voters, all of them representatives"
    return f"How {n_voters} voters became {n_left} representative{'s' if n_left > 1 else ''}"


def _record_of(trained: Any) -> Any:
    """Return the record of what was trained."""
    if hasattr(trained, "increments") and hasattr(trained, "n_final"):
        return trained
    if getattr(trained, "steps", None):
        return _record_of(trained.steps[-1][1])
    if hasattr(trained, "ensemble"):
        return _record_of(trained.ensemble)
    if not hasattr(type(trained), "record_"):
        raise TypeError(
            "trained must be a fitted ensemble, a pipeline that ends in one, a StreamedModel or a "
            f"TrainingRecord: got {type(trained).__name__}. Give what fit, prune or train_on "
            "returns."
        )
    if not hasattr(trained, "record_"):
        raise ValueError(
            f"trained must be fitted: this {type(trained).__name__} is not. Call fit or "
            "partial_fit first."
        )
    return trained.record_
