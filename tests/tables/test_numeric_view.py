"""Encoded tables as scaled numbers and one-hot columns."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from skliquid import LiquidEnsembleClassifier
from skliquid.tables.column_encoders import OTHER
from skliquid.tables.numeric_view import IS_MISSING, MISSING_CODE, NUMBER, NumericView

NAN = np.nan


def fitted(rows, *is_code):
    return NumericView().fit(np.array(rows, dtype=float), is_code=np.array(is_code))


def test_numbers_are_scaled_and_missing_ones_are_the_mean_with_an_indicator():
    view = fitted([[1, 5], [3, 5], [NAN, 5]], False, False)
    assert view.contents_.tolist() == [NUMBER, IS_MISSING, NUMBER]
    assert view.transform(np.array([[1, 5], [3, 5], [NAN, NAN]])).tolist() == [
        [-1, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
    ]


def test_numbers_never_missing_in_training_have_no_indicator():
    view = fitted([[1.0], [3.0]], False)
    assert view.transform(np.array([[NAN]])).tolist() == [[0]]


def test_categories_have_a_column_each():
    view = fitted([[0], [1], [2], [OTHER], [NAN]], True)
    assert view.contents_.tolist() == [0, 1, 2, OTHER, MISSING_CODE]
    assert np.array_equal(view.transform(np.array([[0], [1], [2], [OTHER], [NAN]])), np.eye(5))


def test_two_categories_share_a_column():
    view = fitted([[0.0], [1.0]], True)
    assert view.transform(np.array([[0], [1], [OTHER], [NAN]])).ravel().tolist() == [0, 1, 0, 0]


def test_categories_that_come_later_have_no_column():
    view = fitted([[0.0], [1.0], [2.0]], True)
    assert not view.transform(np.array([[3], [OTHER], [NAN]])).any()


def test_codes_of_rows_that_were_left_out_have_a_column():
    assert fitted([[0.0], [3.0]], True).contents_.tolist() == [0, 1, 2, 3]


def test_wide_views_are_sparse_with_the_same_numbers():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(40, size=(300, 20)), rng.normal(size=(300, 3))])
    rows[::7, 21] = NAN
    is_code = np.arange(23) < 20
    wide = NumericView().fit(rows, is_code=is_code)
    found = wide.transform(rows)
    assert scipy.sparse.issparse(found)
    narrow = [NumericView().fit(rows[:, part], is_code=is_code[part]) for part in HALVES]
    dense = [one.transform(rows[:, part]) for one, part in zip(narrow, HALVES, strict=True)]
    assert np.array_equal(found.toarray(), np.hstack(dense))
    assert np.array_equal(wide.deviation_, np.hstack([one.deviation_ for one in narrow]))


HALVES = (slice(0, 10), slice(10, 23))


def test_frames_with_wide_views_can_be_fitted():
    codes = np.random.default_rng(0).integers(30, size=(600, 20))
    frame = pd.DataFrame(codes.astype(str)).add_prefix("x").astype("category")
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(frame, codes[:, 0] > 14)
    assert ensemble.score(frame, codes[:, 0] > 14) > 0.9


def test_large_numbers_stay_finite():
    view = fitted([[1e-300], [2e-300]], False)
    assert np.isfinite(view.transform(np.array([[1e308], [-1e308]]))).all()


def test_importances_are_summed_over_the_columns_of_a_feature():
    view = fitted([[0, 1], [1, 2], [2, 3]], True, False)
    found = view.importances(np.array([1.0, 2.0, 3.0, 4.0]))
    deviations = np.sqrt(2 / 9) * 6, 4.0
    assert found == pytest.approx(deviations)


def test_columns_have_names():
    view = fitted([[0, 1], [1, NAN], [2, 3]], True, False)
    assert view.get_feature_names_out().tolist() == ["x0_0", "x0_1", "x0_2", "x1_-1", "x1_-2"]
