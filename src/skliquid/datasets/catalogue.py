"""The catalogue: what is known of the paper's eight datasets before a file is opened."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, TypeAlias

ColumnType: TypeAlias = Literal["numerical", "categorical", "time"]
"""What a feature holds: numbers, one of a few words, or a point in time (as text)."""

LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"


@dataclass(frozen=True)
class CatalogueEntry:
    """One dataset of ``catalogue.toml``.

    Attributes
    ----------
    name : str
        Its name in the paper.
    title, creators, year, uci_id, doi
        How the UCI Machine Learning Repository lists it; ``creators`` and ``year`` are optional.
    features : tuple of str
        The columns, the class aside.
    target : str
        The column of the class, the last of the file.
    classes : mapping
        How many rows each class has.
    checksum : str
        SHA-256 of the content: see ``skliquid.datasets.table.checksum``.
    categorical, time : tuple of str
        The features that are not numerical.
    n_missing : int
        Number of cells without a value.
    archive, file_name : str
        UCI's zip archive and the file in it, for a dataset that does not come with the package.
    """

    name: str
    title: str
    uci_id: int
    doi: str
    features: tuple[str, ...]
    target: str
    classes: Mapping[str, int]
    checksum: str
    creators: str = ""
    year: int | None = None
    categorical: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    n_missing: int = 0
    archive: str = ""
    file_name: str = ""

    @property
    def is_embedded(self) -> bool:
        """Whether the dataset comes with the package."""
        return not self.archive

    @property
    def column_types(self) -> tuple[ColumnType, ...]:
        """The type of each feature."""
        types: dict[str, ColumnType] = dict.fromkeys(self.features, "numerical")
        for feature in self.categorical:
            types[feature] = "categorical"
        for feature in self.time:
            types[feature] = "time"
        return tuple(types.values())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.classes.values())

    @property
    def source(self) -> str:
        """Where the data is from."""
        return f"UCI Machine Learning Repository, dataset {self.uci_id}, doi:{self.doi}"

    @property
    def citation(self) -> str:
        """How UCI asks to cite the dataset."""
        creators = f"{self.creators} ({self.year}). " if self.year else ""
        return (
            f"{creators}{self.title} [Dataset]. UCI Machine Learning Repository. "
            f"https://doi.org/{self.doi}"
        )


def _entry(name: str, fields: dict[str, Any]) -> CatalogueEntry:
    values: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()
    }
    return CatalogueEntry(name=name, **values)


_FILE = resources.files("skliquid.datasets") / "catalogue.toml"

CATALOGUE: Mapping[str, CatalogueEntry] = {
    name: _entry(name, fields)
    for name, fields in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}

DATASET_NAMES = tuple(CATALOGUE)
"""The paper's eight datasets, by the paper's names."""
