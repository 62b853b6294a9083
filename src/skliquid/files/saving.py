"""save and load: models as files of data, and back."""

from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from skliquid.files import container
from skliquid.files.atomic_write import atomic_write
from skliquid.files.container import Content, ModelFileError
from skliquid.files.documents import InvalidPart, Reader, Writer
from skliquid.validation.checks import printable


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a model to a file that holds data and no code.

    The same model gives the same bytes. The file is replaced in one step: it always holds either
    this model or its old content.

    Parameters
    ----------
    model : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or StreamedModel
        Fitted or not. Voters must be linear, or trees of :mod:`skliquid.voters`; those of a
        pruned ensemble may be trees of scikit-learn. Feature maps and other steps must be among the
        common transformers of scikit-learn, and functions must be skliquid's own. Of a
        ``DaskLiquidEnsembleClassifier`` the local ensemble is stored.
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
    content = serialize(model.to_local() if hasattr(model, "to_local") else model)
    _restore(content, "The model")  # no file is written that cannot be read
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
    model : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or StreamedModel
        The model, with the same bits.

    Raises
    ------
    ModelFileError
        If the file was damaged, holds no valid model, or is of another version.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be an existing file: {path} is not. Correct the path.")
    content = container.read(path)
    _declare_parts()
    return _restore(content, path)


def _declare_parts() -> None:
    """Import the modules whose parts a file may hold."""
    for name in ("skliquid.ensemble", "skliquid.pruned", "skliquid.streams.model"):
        with suppress(ImportError):  # streams need an extra
            import_module(name)


def serialize(value: Any) -> Content:
    """Serialize ``value`` to a document and its arrays, or raise if files cannot store it."""
    try:
        return Writer().serialize(value)
    except InvalidPart as error:
        raise ModelFileError(
            f"model must consist of types that model files can store: {error}. Change it, or save "
            "it with skops.io.dump, which asks which types to trust, or with joblib.dump, whose "
            "files can run any code when they are loaded."
        ) from error


def write(content: Content, path: Path) -> None:
    """Write the content of a model file."""
    with atomic_write(path) as file:
        container.write(content, file)


def n_bytes(model: Any) -> int:
    """Return the size of the file that :func:`save` would write."""
    file = BytesIO()
    container.write(serialize(model), file)
    return file.tell()


def _restore(content: Content, name: Any) -> Any:
    """Return the model in the content of a file, after checking every part of it."""
    way_out = "Restore a copy, or train again."
    try:
        model = Reader(content).model()
    except InvalidPart as error:
        problem = printable(error)
        raise ModelFileError(f"{name} must hold a valid model: {problem}. {way_out}") from None
    final = model
    while isinstance(final, Pipeline):
        final = final[-1]
    predicts = hasattr(model, "predict") or hasattr(model, "predictions")
    if not predicts or hasattr(final, "sparsify"):  # a linear voter, which is for ensembles
        raise ModelFileError(
            f"{name} must be an ensemble, a pipeline that ends with one, or a voter made of trees: "
            f"got a {type(final).__name__}. {way_out}"
        )
    return model


def digest(value: Any) -> str:
    """Return the SHA-256 of a serialized value, or raise if files cannot store it."""
    text, arrays = serialize(value)
    found = sha256(text)
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()
