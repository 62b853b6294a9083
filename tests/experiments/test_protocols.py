import numpy as np

from skliquid.experiments.protocols import PROTOCOLS, halves


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


def test_a_file_of_the_users_own(table):
    data = halves(str(table), "class", "ours", 0)
    assert data.X_train.shape == (80, 5)
