"""Loading: ``load_dataset``, which reads and verifies a dataset of the paper."""

import io
import lzma
import zlib
from hashlib import sha256
from importlib import resources
from typing import Any

from skliquid.datasets.catalogue import CATALOGUE, DATASET_NAMES, LICENCE, CatalogueEntry
from skliquid.datasets.data_home import data_home, download, find, store
from skliquid.datasets.dataset import Dataset, dataset_from_frame
from skliquid.validation.checks import missing_extra, suggestion

_UNREADABLE = (OSError, EOFError, LookupError, ValueError, lzma.LZMAError, zlib.error)


class DatasetDamaged(ValueError):  # noqa: N818 (the name says what is wrong)
    """A file does not hold the dataset that its name stands for."""


def load_dataset(name: str, *, as_frame: bool = False) -> Dataset:
    """Return a dataset of the paper, checked against its checksum.

    Parameters
    ----------
    name : str
        One of ``DATASET_NAMES``.
    as_frame : bool, default=False
        Whether X and y are a pandas DataFrame and Series instead of numpy arrays.

    Returns
    -------
    Dataset
        The rows as the source has them.

    Examples
    --------
    >>> from skliquid.datasets import load_dataset
    >>> heart = load_dataset("heart")
    >>> heart
    Dataset('heart', 270 rows, 13 features, classes 1: 150, 2: 120)
    >>> heart.feature_names[:3], heart.column_types[:3]
    (('age', 'sex', 'chest'), ('numerical', 'categorical', 'categorical'))
    """
    if name not in DATASET_NAMES:
        raise ValueError(
            f"name must be one of {', '.join(DATASET_NAMES)}: got {str(name)!r}. "
            f"{suggestion(name, DATASET_NAMES)} Read your own files with pandas.read_csv."
        )
    entry = CATALOGUE[name]
    return dataset_from_frame(
        _read(entry),
        entry.column_types,
        target=entry.target,
        as_frame=as_frame,
        name=name,
        source=entry.source,
        licence=LICENCE,
        citation=entry.citation,
    )


def available_datasets() -> list[str]:
    """Return the names of the paper's datasets that load without a network.

    They come with the package or have a file in the data home, which is not opened here.
    """
    return [name for name, entry in CATALOGUE.items() if entry.is_embedded or find(entry)]


def _read(entry: CatalogueEntry) -> Any:
    if entry.is_embedded:
        return _read_embedded(entry)
    if path := find(entry):
        way_out = f"Remove it or put UCI's {entry.file_name} in its place, and load it again."
        return _read_verified(entry, path, str(path), way_out)
    data = download(entry)
    origin = f"{entry.file_name}, as downloaded from {entry.archive},"
    way_out = f"It was not kept: load it again, or put the right file into {data_home()}."
    frame = _read_verified(entry, io.BytesIO(data), origin, way_out)
    store(data, entry.file_name)
    return frame


def _read_embedded(entry: CatalogueEntry) -> Any:
    file = resources.files("skliquid.datasets") / "embedded" / f"{entry.name}.csv.xz"
    data = file.read_bytes()
    if (digest := sha256(data).hexdigest()) != entry.checksum:
        raise _damaged(entry, str(file), f"it has {digest}", "Install skliquid again.")
    return _read_csv(entry, io.BytesIO(data), compression="xz")


def _read_verified(entry: CatalogueEntry, file: Any, path: str, way_out: str) -> Any:
    try:
        frame = _read_csv(entry, file, compression="infer")
    except _UNREADABLE as error:
        raise _damaged(entry, path, f"it cannot be read ({error})", way_out) from error
    if (digest := values_digest(frame)) != entry.checksum:
        problem = f"it has {digest} and is damaged or another version"
        raise _damaged(entry, path, problem, way_out)
    return frame


def _damaged(entry: CatalogueEntry, path: str, problem: str, way_out: str) -> DatasetDamaged:
    rule = f"{path} must hold {entry.name}, with the checksum {entry.checksum}"
    return DatasetDamaged(f"{rule}: {problem}. {way_out}")


def _read_csv(entry: CatalogueEntry, file: Any, *, compression: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_extra("load_dataset", "pandas", "pandas") from error
    options: Any = {"dtype": str, "na_values": "?", "compression": compression}
    texts = pd.read_csv(file, **options)
    numerical = set(entry.features) - {*entry.categorical, *entry.time}
    return texts.astype(dict.fromkeys(numerical, float))  # read_csv may round the last bit


def values_digest(frame: Any) -> str:
    """Return a SHA-256 of the values: copies of UCI's file differ in notation and line ends."""
    text = frame.to_csv(sep="\x1f", na_rep="?", index=False, lineterminator="\n")
    names, *rows = text.removesuffix("\n").split("\n")
    return sha256("\n".join([names, *sorted(rows)]).encode()).hexdigest()
