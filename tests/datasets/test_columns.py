import re

import pytest

from skliquid.datasets.columns import check_column, check_distinct


def test_the_closest_name_is_suggested():
    message = "target must be a column of data.csv, which has age, class: got 'clas'. Did you mean"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_column("clas", ["age", "class"], "data.csv", parameter="target")


def test_of_many_columns_only_the_first_are_listed():
    with pytest.raises(ValueError, match=r"has c0, .*c19, \.\.\.: got 'z'"):
        check_column("z", [f"c{k}" for k in range(99)], "data.csv", parameter="target")


def test_two_columns_of_one_name_are_refused():
    check_distinct(["a", "b"], "data.csv")
    with pytest.raises(ValueError, match=r"data.csv has 'a' more than once\. Rename one"):
        check_distinct(["a", "b", "a"], "data.csv")
