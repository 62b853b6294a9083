"""What is known of the paper's eight datasets before a file is opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["numerical", "categorical", "time"]
"""What a feature holds: numbers, one of a few words, or a point in time (as text)."""

LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"


@dataclass(frozen=True)
class CatalogueEntry:
    """What is known of a dataset.

    Attributes
    ----------
    name : str
        Its name in the paper.
    title, creators, year, uci_id, doi
        How the UCI Machine Learning Repository lists it; ``year`` is None where it gives none.
    features : tuple of str
        The columns, the class aside.
    target : str
        The column of the class, the last of the file.
    classes : mapping
        How many rows each class has.
    checksum : str
        SHA-256 of what the table says: see ``skliquid.datasets.table.checksum``.
    categorical, time : tuple of str
        The features that are not numerical.
    n_missing : int
        Number of cells without a value.
    archive, file_name : str
        UCI's zip archive and the file in it, for a dataset that does not come with the package.
    """

    name: str
    title: str
    creators: str
    year: int | None
    uci_id: int
    doi: str
    features: tuple[str, ...]
    target: str
    classes: Mapping[str, int]
    checksum: str
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
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each feature."""
        return tuple(self._kind(feature) for feature in self.features)

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

    def _kind(self, feature: str) -> Kind:
        if feature in self.time:
            return "time"
        return "categorical" if feature in self.categorical else "numerical"


_CHESS_COLUMNS = (
    "bkblk bknwy bkon8 bkona bkspr bkxbq bkxcr bkxwp blxwp bxqsq cntxt dsopp dwipd hdchk katri "
    "mulch qxmsq r2ar8 reskd reskr rimmx rkxwp rxmsq simpl skach skewr skrxp spcop stlmt thrsk "
    "wkcti wkna8 wknck wkovl wkpos wtoeg"
)
_CHESS_FEATURES = tuple(_CHESS_COLUMNS.split())

_SPAM_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses "
    "free business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data "
    "415 85 technology 1999 parts pm direct cs meeting original project re edu table conference"
)
_SPAM_FEATURES = (
    *(f"word_freq_{word}" for word in _SPAM_WORDS.split()),
    *(f"char_freq_{character}" for character in ";([!$#"),
    "capital_run_length_average",
    "capital_run_length_longest",
    "capital_run_length_total",
)

_ENTRIES = (
    CatalogueEntry(
        name="breast-cancer-w",
        title="Breast Cancer Wisconsin (Original)",
        creators="Wolberg, W.",
        year=1990,
        uci_id=15,
        doi="10.24432/C5HP4Z",
        features=(
            "clump_thickness",
            "cell_size_uniformity",
            "cell_shape_uniformity",
            "marginal_adhesion",
            "single_epithelial_cell_size",
            "bare_nuclei",
            "bland_chromatin",
            "normal_nucleoli",
            "mitoses",
        ),
        target="class",
        classes={"2": 458, "4": 241},
        n_missing=16,
        checksum="4e349a5ab816adb0df3dea35572216d4fcfab70841f5d800997f78f8baaaacf8",
    ),
    CatalogueEntry(
        name="credit-approval",
        title="Credit Approval",
        creators="Quinlan, J. R.",
        year=1987,
        uci_id=27,
        doi="10.24432/C5FS30",
        features=tuple(f"A{number}" for number in range(1, 16)),
        categorical=("A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"),
        target="A16",
        classes={"-": 383, "+": 307},
        n_missing=67,
        checksum="06c4a76b350d02db97f68260a1cd0d3905169d8327231593982d543064c65e59",
    ),
    CatalogueEntry(
        name="heart",
        title="Statlog (Heart)",
        creators="",
        year=None,
        uci_id=145,
        doi="10.24432/C57303",
        features=(
            "age",
            "sex",
            "chest",
            "resting_blood_pressure",
            "serum_cholestoral",
            "fasting_blood_sugar",
            "resting_electrocardiographic_results",
            "maximum_heart_rate_achieved",
            "exercise_induced_angina",
            "oldpeak",
            "slope",
            "number_of_major_vessels",
            "thal",
        ),
        categorical=(
            "sex",
            "chest",
            "fasting_blood_sugar",
            "resting_electrocardiographic_results",
            "exercise_induced_angina",
            "thal",
        ),
        target="class",
        classes={"1": 150, "2": 120},
        checksum="cd55fa54c5b6376e60c653bdefd680bde71d3aed1d2f5001735aeb8196720c26",
    ),
    CatalogueEntry(
        name="ionosphere",
        title="Ionosphere",
        creators="Sigillito, V., Wing, S., Hutton, L. and Baker, K.",
        year=1989,
        uci_id=52,
        doi="10.24432/C5W01B",
        features=tuple(f"a{number:02}" for number in range(1, 35)),
        target="class",
        classes={"g": 225, "b": 126},
        checksum="190e099d749af5dbc24f448737043d73df513dd37c71da083a8f335d3a4e6a4d",
    ),
    CatalogueEntry(
        name="kr-vs-kp",
        title="Chess (King-Rook vs. King-Pawn)",
        creators="Shapiro, A.",
        year=1983,
        uci_id=22,
        doi="10.24432/C5DK5C",
        features=_CHESS_FEATURES,
        categorical=_CHESS_FEATURES,
        target="class",
        classes={"won": 1669, "nowin": 1527},
        checksum="de4ce967067c1442840156ef271ccc09ed023dc8b65d78041a728ad8608ef8b9",
    ),
    CatalogueEntry(
        name="occupancy-det",
        title="Occupancy Detection",
        creators="Candanedo, L.",
        year=2016,
        uci_id=357,
        doi="10.24432/C5X01N",
        features=("date", "Temperature", "Humidity", "Light", "CO2", "HumidityRatio"),
        time=("date",),
        target="Occupancy",
        classes={"0": 15810, "1": 4750},
        checksum="7101ceb39b7f250974b79068c2e3ffc0007fc9a87711582ed94f387b2bb4701c",
    ),
    CatalogueEntry(
        name="online-shoppers",
        title="Online Shoppers Purchasing Intention Dataset",
        creators="Sakar, C. O. and Kastro, Y.",
        year=2018,
        uci_id=468,
        doi="10.24432/C5F88Q",
        features=(
            "Administrative",
            "Administrative_Duration",
            "Informational",
            "Informational_Duration",
            "ProductRelated",
            "ProductRelated_Duration",
            "BounceRates",
            "ExitRates",
            "PageValues",
            "SpecialDay",
            "Month",
            "OperatingSystems",
            "Browser",
            "Region",
            "TrafficType",
            "VisitorType",
            "Weekend",
        ),
        categorical=(
            "Month",
            "OperatingSystems",
            "Browser",
            "Region",
            "TrafficType",
            "VisitorType",
            "Weekend",
        ),
        target="Revenue",
        classes={"FALSE": 10422, "TRUE": 1908},
        checksum="eabf9a18cdb1f7142dd4431739cbefb5d3ed5ddd03c4561a053bb38d384abd4e",
        archive=(
            "https://archive.ics.uci.edu/static/public/468/"
            "online+shoppers+purchasing+intention+dataset.zip"
        ),
        file_name="online_shoppers_intention.csv",
    ),
    CatalogueEntry(
        name="spambase",
        title="Spambase",
        creators="Hopkins, M., Reeber, E., Forman, G. and Suermondt, J.",
        year=1999,
        uci_id=94,
        doi="10.24432/C53G6X",
        features=_SPAM_FEATURES,
        target="class",
        classes={"0": 2788, "1": 1813},
        checksum="641f35deab4b8128be5516825fb46109746d743e04b929c1218982a2a6b4cf91",
    ),
)

CATALOGUE: Mapping[str, CatalogueEntry] = {entry.name: entry for entry in _ENTRIES}

DATASET_NAMES = tuple(CATALOGUE)
"""The paper's eight datasets, by the paper's names."""
