import importlib.resources

import pytest

from skliquid.datasets import DATASET_NAMES
from skliquid.datasets.catalogue import CATALOGUE

ENTRIES = list(CATALOGUE.values())


def test_the_names_are_those_of_the_paper():
    assert DATASET_NAMES == (
        "breast-cancer-w",
        "credit-approval",
        "heart",
        "ionosphere",
        "kr-vs-kp",
        "occupancy-det",
        "online-shoppers",
        "spambase",
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=DATASET_NAMES)
def test_entries_are_consistent(entry):
    assert len(set(entry.features)) == len(entry.features) == len(entry.column_types)
    assert {*entry.categorical, *entry.time} <= set(entry.features)
    assert entry.target not in entry.features
    assert len(entry.classes) == 2
    assert len(entry.checksum) == 64
    assert entry.is_embedded == (entry.name != "online-shoppers") == (not entry.file_name)


@pytest.mark.parametrize(
    ("name", "numerical", "categorical", "time"),
    [
        ("breast-cancer-w", 9, 0, 0),
        ("credit-approval", 6, 9, 0),
        ("heart", 7, 6, 0),
        ("ionosphere", 34, 0, 0),
        ("kr-vs-kp", 0, 36, 0),
        ("occupancy-det", 5, 0, 1),
        ("online-shoppers", 10, 7, 0),
        ("spambase", 57, 0, 0),
    ],
)
def test_features_are_of_the_types_that_uci_lists(name, numerical, categorical, time):
    column_types = CATALOGUE[name].column_types
    assert column_types.count("numerical") == numerical
    assert column_types.count("categorical") == categorical
    assert column_types.count("time") == time


def test_a_citation_names_creators_year_title_and_doi():
    assert CATALOGUE["ionosphere"].citation == (
        "Sigillito, V., Wing, S., Hutton, L. and Baker, K. (1989). Ionosphere [Dataset]. "
        "UCI Machine Learning Repository. https://doi.org/10.24432/C5W01B"
    )
    assert CATALOGUE["heart"].citation.startswith("Statlog (Heart) [Dataset].")


@pytest.mark.parametrize("entry", ENTRIES, ids=DATASET_NAMES)
def test_the_attribution_names_every_dataset(entry):
    folder = importlib.resources.files("skliquid.datasets") / "embedded"
    attribution = " ".join((folder / "ATTRIBUTION.md").read_text(encoding="utf-8").split())
    for words in (entry.name, entry.title, entry.doi, str(entry.uci_id), "CC BY 4.0"):
        assert words in attribution
