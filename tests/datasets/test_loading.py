import dataclasses
import gzip
import lzma
import sys
from hashlib import sha256

import numpy as np
import pytest

from skliquid import datasets
from skliquid.datasets import (
    DATASET_NAMES,
    DatasetDamaged,
    DatasetNotAvailable,
    available_datasets,
    load_dataset,
    loading,
)
from skliquid.datasets.catalogue import CATALOGUE

EMBEDDED = [name for name in DATASET_NAMES if CATALOGUE[name].is_embedded]

SHOPPERS = CATALOGUE["online-shoppers"]
COLUMNS = ",".join([*SHOPPERS.features, SHOPPERS.target])
FEW_SHOPPERS = f"""{COLUMNS}
0,0,0,0,1,0,0.2,0.2,0,0,Feb,1,1,1,1,Returning_Visitor,FALSE,FALSE
3,87.8,0,0,27,798.3,0,0.012,22.9,0.8,Feb,2,2,3,1,New_Visitor,FALSE,TRUE
""".encode()

FEW_ROWS = [  # numbers as floats print them
    "0.0,0.0,0.0,0.0,1.0,0.0,0.2,0.2,0.0,0.0,Feb,1,1,1,1,Returning_Visitor,FALSE,FALSE",
    "3.0,87.8,0.0,0.0,27.0,798.3,0.0,0.012,22.9,0.8,Feb,2,2,3,1,New_Visitor,FALSE,TRUE",
]
FEW_CHECKSUM = sha256("\n".join([COLUMNS, *FEW_ROWS]).replace(",", "\x1f").encode()).hexdigest()


@pytest.fixture
def home(monkeypatch, tmp_path):
    """An empty data home, no network, and a catalogue with few shoppers."""
    few = dataclasses.replace(SHOPPERS, checksum=FEW_CHECKSUM)
    monkeypatch.setitem(CATALOGUE, "online-shoppers", few)
    monkeypatch.setenv("SKLIQUID_DATA_HOME", str(tmp_path))

    def no_network(address, timeout):
        raise OSError("no network")

    monkeypatch.setattr(datasets.data_home, "urlopen", no_network)
    return tmp_path


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_datasets_match_the_catalogue(name):
    entry = CATALOGUE[name]
    dataset = load_dataset(name)
    assert dataset.name == name
    assert dataset.X.shape == (sum(entry.classes.values()), len(entry.features))
    assert dataset.class_counts == dict(entry.classes)
    assert dataset.n_missing == entry.n_missing
    assert dataset.feature_names == entry.features
    assert dataset.column_types == entry.column_types
    assert dataset.y.dtype.kind == "U"
    assert dataset.licence.startswith("CC BY 4.0")
    assert entry.doi in dataset.source
    assert entry.doi in dataset.citation


@pytest.mark.parametrize("name", EMBEDDED)
def test_arrays_hold_floats_and_text_by_column_type(name):
    dataset = load_dataset(name)
    if set(dataset.column_types) == {"numerical"}:
        assert dataset.X.dtype == np.float64
        return
    for column_type, column in zip(dataset.column_types, dataset.X.T, strict=True):
        allowed = float if column_type == "numerical" else str | None
        assert all(isinstance(cell, allowed) for cell in column)


@pytest.mark.parametrize("name", ["credit-approval", "occupancy-det", "ionosphere"])
def test_frames_hold_what_the_arrays_hold(name):
    dataset, frame = load_dataset(name), load_dataset(name, as_frame=True)
    assert list(frame.X.columns) == list(dataset.feature_names)
    assert frame.n_missing == dataset.n_missing
    assert frame.y.tolist() == dataset.y.tolist()
    for position, column_type in enumerate(dataset.column_types):
        column = frame.X.iloc[:, position]
        assert (column.dtype == np.float64) == (column_type == "numerical")
        assert (column.dtype == "category") == (column_type == "categorical")
        cells = dataset.X[:, position]
        if column_type == "numerical":
            np.testing.assert_array_equal(column.to_numpy(), cells.astype(float))
        else:
            assert column.dropna().tolist() == [cell for cell in cells if cell is not None]


def test_a_missing_dataset_raises_an_error_that_says_what_to_do(home):
    with pytest.raises(DatasetNotAvailable, match=r"downloaded \(no network\): put the file"):
        load_dataset("online-shoppers")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("online-shoppers.csv", FEW_SHOPPERS.replace(b",0.2,", b",2e-1,")),
        ("online_shoppers_intention.csv", FEW_SHOPPERS.replace(b"\n", b"\r\n")),
        ("online-shoppers.csv", b"\xef\xbb\xbf" + FEW_SHOPPERS),
        ("online-shoppers.csv.xz", lzma.compress(FEW_SHOPPERS)),
        ("online_shoppers_intention.csv.gz", gzip.compress(FEW_SHOPPERS, mtime=0)),
    ],
)
def test_a_file_in_the_data_home_is_loaded(home, name, data):
    (home / name).write_bytes(data)
    shoppers = load_dataset("online-shoppers")
    assert shoppers.class_counts == {"FALSE": 1, "TRUE": 1}
    assert shoppers.X[1, :2].tolist() == [3.0, 87.8]
    assert shoppers.X[1, 10:12].tolist() == ["Feb", "2"]


def test_a_download_is_checked_and_kept(home, monkeypatch):
    monkeypatch.setattr(loading, "download", lambda entry: FEW_SHOPPERS)
    assert load_dataset("online-shoppers").n_rows == 2
    assert [path.name for path in home.iterdir()] == ["online_shoppers_intention.csv"]
    monkeypatch.delattr(loading, "download")
    assert load_dataset("online-shoppers").n_rows == 2


def test_a_wrong_download_is_not_kept(home, monkeypatch):
    monkeypatch.setattr(loading, "download", lambda entry: FEW_SHOPPERS.replace(b"Feb", b"May"))
    with pytest.raises(DatasetDamaged, match=r"as downloaded from https.* It was not kept"):
        load_dataset("online-shoppers")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (FEW_SHOPPERS.replace(b"87.8", b"87.9"), "and is damaged or another version"),
        (FEW_SHOPPERS.replace(b"87.8", b"many"), "it cannot be read"),
        (FEW_SHOPPERS.replace(b"Region", b"Place"), "and is damaged or another version"),
        (FEW_SHOPPERS[:-30], "and is damaged or another version"),
        (b"age,class\n1,a\n", "it cannot be read"),
        (b"", "it cannot be read"),
        (b"\xff\xfe\x00", "it cannot be read"),
    ],
)
def test_a_damaged_file_in_the_data_home_is_named(home, data, reason):
    path = home / "online-shoppers.csv"
    path.write_bytes(data)
    with pytest.raises(DatasetDamaged, match=reason) as caught:
        load_dataset("online-shoppers")
    message = str(caught.value)
    assert message.startswith(f"{path} must hold online-shoppers, with the checksum ")
    assert CATALOGUE["online-shoppers"].checksum in message
    assert message.endswith(
        "Remove it or put UCI's online_shoppers_intention.csv in its place, and load it again."
    )


def test_a_damaged_package_raises_an_error_that_says_install_again(monkeypatch):
    monkeypatch.setitem(
        CATALOGUE, "heart", dataclasses.replace(CATALOGUE["heart"], checksum="another")
    )
    with pytest.raises(DatasetDamaged, match=r"checksum another: it has .* Install skliquid again"):
        load_dataset("heart")


def test_available_datasets_load_without_a_network(home):
    assert available_datasets() == EMBEDDED
    (home / "online-shoppers.csv").write_bytes(FEW_SHOPPERS)
    assert available_datasets() == list(DATASET_NAMES)
    assert all(load_dataset(name).n_rows for name in available_datasets())


@pytest.mark.parametrize("end", [".gz", ".xz"])
def test_a_damaged_compressed_file_is_named(home, end):
    packed = {".gz": gzip.compress, ".xz": lzma.compress}[end](FEW_SHOPPERS)
    for data in (FEW_SHOPPERS, packed[:-20]):
        (home / f"online-shoppers.csv{end}").write_bytes(data)
        with pytest.raises(DatasetDamaged, match="it cannot be read"):
            load_dataset("online-shoppers")


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("hart", "got 'hart'. Did you mean 'heart'?"),
        ("occupancy-detection", "Did you mean 'occupancy-det'?"),
        (
            "rows.csv",
            "got 'rows.csv'. Choose one of them. Read your own files with pandas.read_csv.",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_the_names_to_choose_from(name, way_out):
    with pytest.raises(ValueError, match="name must be one of breast-cancer-w, ") as caught:
        load_dataset(name)
    assert way_out in str(caught.value)


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"load_dataset needs pandas.*'\.\[pandas\]'"):
        load_dataset("heart")
