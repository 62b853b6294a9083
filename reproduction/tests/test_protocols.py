import numpy as np
import pytest

from reproduction.protocols import PROTOCOLS, halves, rows


def test_the_papers_rules_drop_rows_with_missing_values_and_keep_numbers_raw():
    data = halves("credit-approval", None, "paper", 0)
    assert len(data.y_train) + len(data.y_test) == 690 - 37
    assert data.X_train.shape[1] == 15
    assert data.X_train.max() > 1000


def test_our_rules_keep_every_row_scaled_and_one_hot():
    data = halves("credit-approval", None, "ours", 0)
    assert len(data.y_train) + len(data.y_test) == 690
    assert data.X_train.shape[1] > 40
    assert np.allclose(data.X_train[:, :6].mean(axis=0), 0)
    assert set(np.unique(data.X_test[:, 6:])) == {0.0, 1.0}
    assert not np.isnan(data.X_test).any()


def test_halves_follow_from_the_seed_and_share_rows_between_protocols():
    one, same = halves("heart", None, "paper", 5), halves("heart", None, "paper", 5)
    other = halves("heart", None, "paper", 6)
    assert np.array_equal(one.X_train, same.X_train)
    assert not np.array_equal(one.X_train, other.X_train)
    assert np.array_equal(one.y_train, halves("heart", None, "ours", 5).y_train)


def test_times_are_no_features():
    for protocol in PROTOCOLS:
        assert halves("occupancy-det", None, protocol, 0).X_train.shape[1] == 5


def test_a_users_file(table):
    data = halves(str(table), "class", "ours", 0)
    assert data.X_train.shape == (80, 5)


def test_columns_without_a_value_are_left_out(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("a,empty,class\n" + "1,,x\n2,null,y\n" * 20)
    for protocol in PROTOCOLS:
        assert halves(str(path), None, protocol, 0).X_train.shape == (20, 1)


def test_rows_that_cannot_be_learnt_from_are_refused(tmp_path):
    empty, holes = tmp_path / "empty.csv", tmp_path / "holes.csv"
    empty.write_text("a,class\n" + ",x\n,y\n" * 20)
    with pytest.raises(ValueError, match=r"must have a feature with values: all cells of .*empty"):
        rows(str(empty), None, "ours")
    holes.write_text("a,b,class\n" + "1,,x\n,2,y\n" * 20)
    with pytest.raises(ValueError, match=r"the 40 rows of .*holes\.csv, 0 have no missing value"):
        rows(str(holes), None, "paper")
    assert len(rows(str(holes), None, "ours")[1]) == 40
