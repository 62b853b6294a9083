import numpy as np
import pytest

from skliquid.streams.files import DataFiles
from skliquid.streams.labels import announced, check_known, check_target, classes_in


@pytest.fixture
def files_with(table, write):
    def made(labels, name="a.parquet", wishes=None):
        return DataFiles(write(table.assign(ill=labels), name), wishes)

    return made


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
def test_classes_are_text_whole_numbers_or_truth_values(files_with, labels, classes, name):
    found = classes_in(files_with(labels * 600, name), "ill")
    assert found.tolist() == classes
    assert type(found.tolist()[0]) is type(classes[0])


def test_a_class_that_comes_last_is_found(files_with):
    assert classes_in(files_with(["a", "b"] * 599 + ["b", "c"]), "ill").tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_missing_label_is_refused_with_its_place(files_with, name):
    for labels in (["a", "b"] * 500 + [None] * 200, [0.0, 1.0] * 500 + [None] * 200):
        with pytest.raises(ValueError, match=rf"row 1001 of .*{name} has none. Remove such rows"):
            classes_in(files_with(labels, name), "ill")


def test_amounts_are_no_classes(files_with):
    with pytest.raises(ValueError, match=r"row 2 of .*a.parquet has 0.5. Choose another target"):
        classes_in(files_with([1, 0.5] * 600), "ill")
    with pytest.raises(ValueError, match="no more than 1000 classes"):
        classes_in(files_with(range(1200)), "ill")
    with pytest.raises(ValueError, match=r"row 1 of .* has 9007199254740992.0"):
        classes_in(files_with([2**53, 2**53 + 1] * 600), "ill")


def test_one_class_is_refused(files_with):
    with pytest.raises(ValueError, match=r"holds only 'a'. Choose another target"):
        classes_in(files_with("a"), "ill")


def test_targets_are_checked(files_with):
    files = files_with("a")
    with pytest.raises(ValueError, match="Did you mean 'ill'"):
        check_target("il", files)
    with pytest.raises(ValueError, match=r"'seen' of .* holds neither text"):
        check_target("seen", files)


def test_a_label_that_was_not_announced_is_refused_with_its_place(files_with):
    said = r"'c', in row 13 of .*a.parquet, is none of \['a', 'b'\]. Add it"
    with pytest.raises(ValueError, match=said):
        check_known(np.array(["a", "b", "c"]), np.array(["a", "b"]), 10, files_with("a"))


@pytest.mark.parametrize(
    ("classes", "kind", "labels"),
    [
        (("b", "a"), "text", ["a", "b"]),
        (["1", "0"], "text", ["0", "1"]),
        (np.array([2, 1]), "number", [1, 2]),
        (["2", 1.0], "number", [1, 2]),
        (["True", "false"], "truth", [False, True]),
        (np.array([True, False]), "truth", [False, True]),
    ],
)
def test_announced_classes_are_of_the_targets_kind(classes, kind, labels):
    found = announced(classes, kind).tolist()
    assert found == labels
    assert {type(each) for each in found} == {type(labels[0])}


@pytest.mark.parametrize(
    ("classes", "kind", "said"),
    [
        ([0, 1], "truth", "classes must be truth values, as the target is: 0 is not"),
        ([0, 1], "text", "classes must be text, as the target is: 0 is not"),
        (["a", "b"], "number", "classes must be whole numbers, as the target is: 'a' is not"),
        ([True, False], "number", "classes must be whole numbers, as the target is: True is not"),
        ([0.5], "number", "classes must be whole numbers, as the target is: 0.5 is not"),
    ],
)
def test_classes_of_another_kind_are_refused(classes, kind, said):
    with pytest.raises(ValueError, match=said):
        announced(classes, kind)


def test_classes_are_a_list():
    for wrong in ("yes", 5):
        with pytest.raises(TypeError, match="classes must be a list of labels"):
            announced(wrong, "text")
