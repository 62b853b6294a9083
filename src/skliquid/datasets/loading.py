"""Loading: ``load_dataset``, by the name of a dataset or the path of a user's own file."""

from importlib import resources
from os import PathLike

from skliquid.datasets.catalogue import CATALOGUE, LICENCE, CatalogueEntry
from skliquid.datasets.data_home import data_home, download, find, store
from skliquid.datasets.dataset import Dataset, dataset_from_table
from skliquid.datasets.own_file import load_own_file
from skliquid.datasets.table import Table, checksum, read_csv


class DatasetDamaged(ValueError):  # noqa: N818 (the name says what is wrong)
    """A file does not hold the dataset that its name stands for."""


def load_dataset(
    name: str | PathLike[str], *, as_frame: bool = False, target: str | None = None
) -> Dataset:
    """Return a dataset of the paper, or one from a file.

    Parameters
    ----------
    name : str or path
        One of ``DATASET_NAMES``, or the path of a ``.csv``, ``.csv.gz``, ``.csv.xz``, ``.tsv``,
        ``.parquet`` or ``.pq`` file; a compressed CSV file may hold at most 512 MB. The separator
        and the decimal mark of a CSV file are found in its first rows. In a file, a feature is
        numerical when every value present is a number, which must be finite, and else categorical.
        Missing values are an empty cell, ``?``, ``NA``, ``N/A``, ``n/a``, ``NaN``, ``nan``,
        ``null`` and ``NULL``.
    as_frame : bool, default=False
        Whether X and y are a pandas DataFrame and Series instead of numpy arrays.
    target : str, default=None
        For a file: the column with the classes; None means the last column.

    Returns
    -------
    Dataset
        The rows as the source has them. A dataset of the paper is checked against its checksum.

    Examples
    --------
    >>> from skliquid.datasets import load_dataset
    >>> heart = load_dataset("heart")
    >>> heart
    Dataset('heart', 270 rows, 13 features, classes 1: 150, 2: 120)
    >>> heart.feature_names[:3], heart.column_types[:3]
    (('age', 'sex', 'chest'), ('numerical', 'categorical', 'categorical'))
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        return load_own_file(name, as_frame=as_frame, target=target)
    entry = CATALOGUE[name]
    if target is not None:
        raise ValueError(
            f"target must be left out for a dataset of the paper: got {target!r}, and the class "
            f"of {name} is {entry.target!r}. Leave it out, or give the path of a file."
        )
    about = {"source": entry.source, "licence": LICENCE, "citation": entry.citation}
    table, column_types = _table_of(entry), entry.column_types
    return dataset_from_table(
        table, column_types, target=entry.target, as_frame=as_frame, name=name, **about
    )


def available_datasets() -> list[str]:
    """Return the names of the paper's datasets that load without a network.

    They come with the package or have a file in the data home. Files are not opened: a damaged one
    raises an error when it is loaded.
    """
    return [name for name, entry in CATALOGUE.items() if entry.is_embedded or find(entry)]


def _table_of(entry: CatalogueEntry) -> Table:
    if entry.is_embedded:
        file = resources.files("skliquid.datasets") / "embedded" / f"{entry.name}.csv.xz"
        return _read_verified(entry, file.read_bytes(), str(file), "Install skliquid again.")
    if path := find(entry):
        way_out = f"Remove it or put UCI's {entry.file_name} in its place, and load it again."
        return _read_verified(entry, path.read_bytes(), str(path), way_out)
    data = download(entry)
    origin = f"{entry.file_name}, as downloaded from {entry.archive},"
    way_out = f"It was not kept: load it again, or put the right file into {data_home()}."
    table = _read_verified(entry, data, origin, way_out)
    store(data, entry.file_name)
    return table


def _read_verified(entry: CatalogueEntry, data: bytes, path: str, way_out: str) -> Table:
    """Return the table in ``data``, or raise unless it has the checksum of ``entry``.

    The checksum is that of the table and not of the file, so that one check serves the compressed
    files of the package, UCI's own file and any copy of it.
    """
    rule = f"{path} must hold {entry.name}, with the checksum {entry.checksum}"
    try:
        table = read_csv(data, path)
        actual = checksum(table, (*entry.column_types, "categorical"))
    except ValueError as error:
        raise DatasetDamaged(f"{rule}: it cannot be read ({error}) {way_out}") from error
    if actual != entry.checksum:
        raise DatasetDamaged(
            f"{rule}: it has {actual} and is damaged or another version. {way_out}"
        )
    return table
