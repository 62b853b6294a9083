import gzip
import lzma

import pandas as pd
import pytest

from reproduction.own_table import load_data

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
    towns = load_data(str(path))
    assert towns.name == "towns"
    assert towns.source == str(path)
    assert towns.feature_names == ("age", "city")
    assert towns.column_types == ("numerical", "categorical")
    assert towns.X[0].tolist() == [41.0, "Bonn"]
    assert towns.y.tolist() == ["a", "b", "a"]
    assert towns.n_missing == 2
    assert towns.licence == towns.citation == ""


def test_tabs_separate_the_columns_of_tsv_files(own):
    towns = load_data(str(own(TEXT.replace(b",", b"\t"), "own.tsv")))
    assert towns.feature_names == ("age", "city")


def test_any_column_can_be_the_target(own):
    towns = load_data(str(own(TEXT.replace(b"?,,b", b"7,Rom,b"))), "city")
    assert towns.target_name == "city"
    assert towns.feature_names == ("age", "class")
    assert towns.y.tolist() == ["Bonn", "Rom", "Rom"]


@pytest.mark.parametrize("name", ["towns.parquet", "towns.pq"])
def test_a_parquet_file_is_a_dataset(tmp_path, name):
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
    towns = load_data(str(path))
    assert towns.column_types == ("numerical", "numerical", "categorical")
    assert towns.X[0].tolist() == [41.5, 1.0, "Bonn"]
    assert towns.X[2, 0] == 0.1
    assert towns.n_missing == 2
    assert towns.y.tolist() == ["True", "False", "True"]
    frame.iloc[:0].to_parquet(path)
    with pytest.raises(ValueError, match="must have rows"):
        load_data(str(path))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (TEXT, "own.parquet"),
        (TEXT, "own.csv.gz"),
        (TEXT, "own.csv.xz"),
        (b"", "own.csv"),
        (b"age,class\n\xff,a\n", "own.csv"),
        (b"age,class\n1,a\n1,2,3\n", "own.csv"),
        (b"age,class\n1,2,a\n1,2,b\n", "own.csv"),
    ],
)
def test_a_file_that_pandas_cannot_read_is_named(own, text, name):
    with pytest.raises(ValueError, match=rf"must be a file that pandas can read: .*{name} is not"):
        load_data(str(own(text, name)))


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
        load_data(name)
    assert ".csv, .csv.gz, .csv.xz, .tsv, .parquet, .pq" in str(caught.value)
    assert str(caught.value).endswith(way_out)


def test_a_path_without_a_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv is not, seen from"):
        load_data(str(tmp_path / "absent.csv"))


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (TEXT, "clas", "target must be a column of .* has age, city, class: got 'clas'. Did"),
        (TEXT, "zzz", "has age, city, class: got 'zzz'. Choose one of them"),
        (b"age,class\n", None, "must have rows, .* has 0 rows"),
        (b"age,class\n1,a\n2\n", None, "have a class: 1 of the 2 rows"),
        (b"age;class\n1;a\n2;b\n", None, "besides the class: .* and the columns age;class"),
        (b"age,class\n1,a\n2,?\n3,\n", None, "have a class: 2 of the 3 rows .* column 'class'"),
        (b"age,class\n1,a\n2,a\n", None, "two classes or more: .* holds only 'a'"),
        (b"age,class\n1,a\n-inf,b\n", None, "must be finite: the column 'age' of .* '-inf'"),
        (b"age,class\n1,a\n1e999,b\n", None, "must be finite: .* holds '1e999'. Leave"),
    ],
)
def test_a_file_that_is_no_training_data_is_refused(own, text, target, message):
    with pytest.raises(ValueError, match=message):
        load_data(str(own(text)), target)


def test_the_target_of_the_papers_datasets_is_known():
    assert load_data("heart").target_name == "class"
    with pytest.raises(ValueError, match=r"got 'sex' for heart"):
        load_data("heart", "sex")


@pytest.mark.parametrize(
    ("cells", "column_type"),
    [
        (["1", "-2.5", "3e-7", "?"], "numerical"),
        (["?", "", "NA", "null"], "numerical"),
        (["1", "two", "", ""], "categorical"),
        (["1_000", "2_000", "", ""], "categorical"),
        (["TRUE", "FALSE", "", ""], "categorical"),
    ],
)
def test_a_column_is_numerical_when_all_its_values_are_numbers(own, cells, column_type):
    rows = "".join(f"{cell},x,{k % 2}\n" for k, cell in enumerate(cells))
    table = load_data(str(own(f"a,b,class\n{rows}".encode())))
    assert table.column_types == (column_type, "categorical")
    assert table.n_missing == sum(cell in ("?", "", "NA", "null") for cell in cells)
