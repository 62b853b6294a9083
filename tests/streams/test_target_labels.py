import numpy as np
import pytest

from skliquid.streams.data_files import DataFiles
from skliquid.streams.target_labels import check_known, check_target, find_classes, parse_classes


@pytest.fixture
def files_with(table, write):
    def written(labels, name="a.parquet"):
        return DataFiles(write(table.assign(ill=labels), name))

    return written


def classes_of(files):
    return find_classes(files, "ill", check_target("ill", files))


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["yes", "no"], ["no", "yes"]),
        ([3, -1], [-1, 3]),
        ([1.0, 0.0], [0, 1]),
        ([True, False], [False, True]),
    ],
)
def test_classes_are_text_integers_or_booleans(files_with, labels, classes, name):
    classes_found = classes_of(files_with(labels * 600, name))
    assert classes_found.tolist() == classes
    assert type(classes_found.tolist()[0]) is type(classes[0])


def test_a_class_that_comes_last_is_found(files_with):
    assert classes_of(files_with(["a", "b"] * 599 + ["b", "c"])).tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_missing_label_is_refused_with_its_place(files_with, name):
    for labels in (["a", "b"] * 500 + [None] * 200, [0.0, 1.0] * 500 + [None] * 200):
        with pytest.raises(ValueError, match=rf"row 1001 of .*{name} has none. Remove such rows"):
            classes_of(files_with(labels, name))


def test_measurements_are_not_classes(files_with):
    with pytest.raises(ValueError, match=r"row 2 of .*a.parquet has 0.5. Choose another target"):
        classes_of(files_with([1, 0.5] * 600))
    with pytest.raises(ValueError, match=r"from 2 to 1000 classes: .* holds more"):
        classes_of(files_with(range(1200)))
    with pytest.raises(ValueError, match=r"row 1 of .* has 9007199254740992.0"):
        classes_of(files_with([2**53, 2**53 + 1] * 600))


def test_one_class_is_refused(files_with):
    with pytest.raises(ValueError, match=r"holds only 'a'. Choose another target"):
        classes_of(files_with("a"))


def test_targets_are_checked(files_with):
    files = files_with("a")
    with pytest.raises(ValueError, match="Did you mean 'ill'"):
        check_target("il", files)
    with pytest.raises(ValueError, match=r"must hold text, .* 'seen' of .* holds other values"):
        check_target("seen", files)


def test_a_label_that_is_not_among_the_given_classes_is_refused_with_its_place():
    message = r"got \['a', 'b'\], and 'c' in row 3. Add it"
    with pytest.raises(ValueError, match=message):
        check_known(np.array(["a", "b", "c"]), np.array(["a", "b"]), lambda row: f"row {row + 1}")


@pytest.mark.parametrize(
    ("classes", "target_type", "labels"),
    [
        (("b", "a"), "text", ["a", "b"]),
        (["1", "0"], "text", ["0", "1"]),
        (np.array([2, 1]), "number", [1, 2]),
        (["2", 1.0], "number", [1, 2]),
        (["True", "false"], "boolean", [False, True]),
        (np.array([True, False]), "boolean", [False, True]),
    ],
)
def test_given_classes_are_of_the_type_of_the_target(classes, target_type, labels):
    parsed = parse_classes(classes, target_type).tolist()
    assert parsed == labels
    assert {type(label) for label in parsed} == {type(labels[0])}


@pytest.mark.parametrize(
    ("classes", "target_type", "message"),
    [
        ([0, 1], "boolean", "like the target, which holds booleans: got 0"),
        ([0, 1], "text", "like the target, which holds text: got 0"),
        (["a", "b"], "number", "like the target, which holds integers: got 'a'"),
        ([True, False], "number", "like the target, which holds integers: got True"),
        ([0.5], "number", "like the target, which holds integers: got 0.5"),
    ],
)
def test_classes_of_another_type_are_refused(classes, target_type, message):
    with pytest.raises(ValueError, match=message):
        parse_classes(classes, target_type)


def test_classes_are_a_list():
    for wrong in ("yes", 5):
        with pytest.raises(TypeError, match="classes must be a list of labels"):
            parse_classes(wrong, "text")
