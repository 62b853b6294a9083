"""Catalogue: the paper's eight datasets, their columns, classes, sources and checksums."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal, TypeAlias

ColumnType: TypeAlias = Literal["numerical", "categorical", "time"]
"""The type of a feature: numbers, one of a few words, or a point in time (as text)."""

LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"


@dataclass(frozen=True)
class CatalogueEntry:
    """One dataset of ``catalogue.toml``."""

    name: str  # in the paper
    title: str  # as the UCI Machine Learning Repository lists it, like creators and year
    uci_id: int
    doi: str
    features: tuple[str, ...]  # the columns, except the class
    target: str  # the column of the class, the last of the file
    classes: Mapping[str, int]  # number of rows of each class
    checksum: str  # SHA-256 of the embedded file, or of the values in UCI's file
    creators: str = ""
    year: int | None = None
    categorical: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    n_missing: int = 0  # number of cells without a value
    archive: str = ""  # UCI's zip archive, for a dataset that does not come with the package
    file_name: str = ""  # the file in the archive

    @property
    def is_embedded(self) -> bool:
        """Whether the dataset comes with the package."""
        return not self.archive

    @property
    def column_types(self) -> tuple[ColumnType, ...]:
        """The type of each feature."""
        types: dict[str, ColumnType] = dict.fromkeys(self.features, "numerical")
        types.update(dict.fromkeys(self.categorical, "categorical"))
        types.update(dict.fromkeys(self.time, "time"))
        return tuple(types.values())

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


_FILE = resources.files("skliquid.datasets") / "catalogue.toml"

CATALOGUE: Mapping[str, CatalogueEntry] = {
    name: CatalogueEntry(
        name, **(fields | {k: tuple(v) for k, v in fields.items() if isinstance(v, list)})
    )
    for name, fields in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}

DATASET_NAMES = tuple(CATALOGUE)
"""The paper's eight datasets, by the paper's names."""
