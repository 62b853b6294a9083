import builtins
import gzip
import lzma

import numpy as np
import pytest

from skliquid.datasets import load_dataset

TEXT = b"age,city,class\n41,Bonn,a\n?,,b\n0.5,Rom,a\n"


@pytest.fixture
def own(tmp_path):
    def write(text: bytes, name: str = "own.csv"):
        (tmp_path / name).write_bytes(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("pack", "ending"),
    [(bytes, ".csv"), (gzip.compress, ".csv.gz"), (lzma.compress, ".csv.xz"), (bytes, ".CSV")],
)
def test_a_csv_file_is_a_dataset(own, pack, ending):
    path = own(pack(TEXT), f"towns{ending}")
    for name in (path, str(path)):
        towns = load_dataset(name)
        assert towns.name == "towns"
        assert towns.source == str(path)
        assert towns.feature_names == ("age", "city")
        assert towns.column_types == ("numerical", "categorical")
        assert towns.y.tolist() == ["a", "b", "a"]
        assert towns.n_missing == 2
        assert towns.licence == towns.citation == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("name", ["own.csv", "own.tsv"])
def test_a_file_of_a_spreadsheet_is_a_dataset(own, encoding, separator, name):
    text = "sep=;\r\nGröße;Ort;Klasse\r\n41,5;Köln, Süd;a\r\n?;;b\r\n0,5;Rom;a\r\n\r\n"
    towns = load_dataset(own(text.replace(";", separator).encode(encoding), name))
    assert towns.feature_names == ("Größe", "Ort")
    assert towns.column_types == ("numerical", "categorical")
    assert towns.X[0].tolist() == [41.5, "Köln, Süd"]
    assert towns.y.tolist() == ["a", "b", "a"]


def test_any_column_can_be_the_target(own):
    towns = load_dataset(own(TEXT.replace(b"?,,b", b"7,Rom,b")), target="city")
    assert towns.target_name == "city"
    assert towns.feature_names == ("age", "class")
    assert towns.y.tolist() == ["Bonn", "Rom", "Rom"]


@pytest.mark.parametrize("name", ["towns.parquet", "towns.pq"])
def test_a_parquet_file_is_a_dataset(tmp_path, name):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    frame = pd.DataFrame(
        {
            "age": [41.5, None, 0.1],
            "count": [1, 2, 3],
            "city": ["Bonn", None, "Rom"],
            "class": [True, False, True],
        }
    )
    frame.to_parquet(path)
    towns = load_dataset(path)
    assert towns.column_types == ("numerical", "numerical", "categorical")
    assert towns.X[0].tolist() == [41.5, 1.0, "Bonn"]
    assert towns.X[2, 0] == 0.1
    assert towns.n_missing == 2
    assert towns.y.tolist() == ["True", "False", "True"]
    assert load_dataset(path, as_frame=True).X["age"].dtype == np.float64
    frame.iloc[:0].to_parquet(path)
    with pytest.raises(ValueError, match="must have rows"):
        load_dataset(path)


def test_an_invalid_parquet_file_is_refused(own):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"must be a Parquet file: .*own\.parquet is not"):
        load_dataset(own(TEXT, "own.parquet"))


@pytest.mark.parametrize(
    ("absent", "message"),
    [
        ("pandas", r"Parquet file needs pandas.*skliquid\[pandas\]"),
        ("pyarrow", r"Parquet file needs pyarrow.*pip install pyarrow"),
    ],
)
def test_a_parquet_file_names_what_it_needs(own, monkeypatch, absent, message):
    pd = pytest.importorskip("pandas")
    real_import = builtins.__import__

    def without(name, *arguments, **more):
        if name == absent:
            raise ImportError(name)
        return real_import(name, *arguments, **more)

    def read_parquet(path, engine):
        raise ImportError(engine)

    path = own(TEXT, "own.parquet")
    monkeypatch.setattr(pd, "read_parquet", read_parquet)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=message):
        load_dataset(path)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("hart", "got 'hart'. Did you mean 'heart'?"),
        ("occupancy-detection", "Did you mean 'occupancy-det'?"),
        ("zzz", "got 'zzz'. Choose one of them."),
        ("rows.arff", "got 'rows.arff'. Choose one of them."),
    ],
)
def test_an_unknown_name_is_refused_with_the_names_to_choose_from(name, way_out):
    with pytest.raises(ValueError, match="name must be one of breast-cancer-w, ") as caught:
        load_dataset(name)
    assert ".csv, .csv.gz, .csv.xz, .tsv, .parquet, .pq" in str(caught.value)
    assert str(caught.value).endswith(way_out)


def test_a_path_without_a_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv is not, seen from"):
        load_dataset(tmp_path / "absent.csv")


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (TEXT, "clas", "target must be a column of .* has age, city, class: got 'clas'. Did"),
        (TEXT, "zzz", "has age, city, class: got 'zzz'. Choose one of them"),
        (b"", None, "must have rows"),
        (b"age,class\n1,a\n2\n", None, "columns, 2: row 2 of .* has 1"),
        (b"age class\n1 a\n2 b\n", None, "besides the class: .* has one column, 'age class'"),
        (b"age,age,class\n1,2,a\n3,4,b\n", None, "different names: .* has 'age' more than once"),
        (b"age,class\n1,a\n2,?\n3,\n", None, "have a class: 2 of the 3 rows .* column 'class'"),
        (b"age,class\n1,a\n2,a\n", None, "two classes or more: .* holds only 'a'"),
        (b"age,class\n1,a\n-inf,b\n", None, "must be finite: the column 'age' of .* '-inf'"),
        (b"age,class\n1,a\n1e999,b\n", None, "must be finite: .* holds '1e999'. Leave"),
    ],
)
def test_a_file_that_is_no_training_data_is_refused(own, text, target, message):
    with pytest.raises(ValueError, match=message):
        load_dataset(own(text), target=target)
