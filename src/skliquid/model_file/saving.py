"""save and load: a model as a file of data, and the model of such a file."""

import json
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from skliquid.model_file import container
from skliquid.model_file.errors import ModelFileError
from skliquid.model_file.fields import Unfit
from skliquid.model_file.values import Reader, Writer
from skliquid.model_file.vocabulary import vocabulary
from skliquid.replacing import replacing


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a model to a file that holds data and no code.

    The same model gives the same bytes. The file is replaced at once: at any time it holds this
    model, or what it held before.

    Parameters
    ----------
    model : LiquidEnsembleClassifier, Pipeline or StreamedModel
        Fitted or not. Voters must be linear, or trees of :mod:`skliquid.voters`; feature maps and
        other steps must be among the common transformers of scikit-learn, and functions must be
        skliquid's own.
    path : str or path
        The file.

    Raises
    ------
    ModelFileError
        If the model holds anything else. ``skops.io.dump`` and ``joblib.dump`` save any model; a
        file of joblib can run any code when it is loaded.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from skliquid import LiquidEnsembleClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> file = tempfile.mkdtemp() + "/iris.skliquid"
    >>> save(ensemble, file)
    >>> bool((load(file).predict_proba(X) == ensemble.predict_proba(X)).all())
    True
    """
    content = content_of(model)
    model_of(content, "The model")  # so that no file is written that cannot be read
    write(content, Path(path))


def load(path: str | PathLike[str]) -> Any:
    """Return the model in a file that :func:`save` or ``skliquid train`` wrote.

    Nothing in the file is executed, whoever wrote it, and all of it is checked.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : LiquidEnsembleClassifier, Pipeline or StreamedModel
        The model, with the same bits.

    Raises
    ------
    ModelFileError
        If the file was damaged, holds no valid model, or is of another version.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be an existing file: {path} is not. Correct the path.")
    return model_of(container.read(path), path)


def write(content: container.Content, path: Path) -> None:
    """Write the content of a model file."""
    with replacing(path) as file:
        container.write(content, file)


def content_of(model: Any) -> container.Content:
    """Return a model as a document and arrays, or raise if a file cannot hold it."""
    try:
        return Writer(vocabulary()).content(model)
    except Unfit as error:
        raise ModelFileError(
            f"model must be data, so that a file can hold it: {error}. Change it, or save it with "
            "skops.io.dump, which asks which types to trust, or with joblib.dump, whose files can "
            "run any code when they are loaded."
        ) from error


def model_of(content: container.Content, name: Any) -> Any:
    """Return the model in the content of a file, every part of which is checked."""
    try:
        return _checked(Reader(vocabulary(), content).value())
    except (Unfit, RecursionError) as error:
        raise ModelFileError(
            f"{name} must hold a valid model: {error}. Restore a copy, or train again."
        ) from error


def _checked(model: Any) -> Any:
    if not (hasattr(model, "predict") or hasattr(model, "predictions")):
        raise Unfit(f"a model that predicts: got a {type(model).__name__}")
    return model


def digest(value: Any) -> str:
    """Return the SHA-256 of a value as a file would hold it, or raise if a file cannot."""
    document, arrays = content_of(value)
    found = sha256(json.dumps(document).encode())
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()
