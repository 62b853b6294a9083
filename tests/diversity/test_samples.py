import numpy as np
import pytest

from skliquid.diversity import Sample, row_sample
from skliquid.diversity.samples import draw_subspaces


@pytest.mark.parametrize(
    ("max_samples", "bootstrap", "expected"),
    [
        (1.0, False, None),
        (200, False, None),
        (0.5, False, Sample(0.5, False)),
        (50, False, Sample(0.25, False)),
        (1.0, True, Sample(1.0, True)),
        (1000, True, Sample(1, True)),
        (1, True, Sample(1 / 200, True)),
    ],
)
def test_samples_of_rows(max_samples, bootstrap, expected):
    assert row_sample(max_samples, bootstrap, n_rows=200) == expected


@pytest.mark.parametrize(
    ("max_features", "n_seen"), [(3, 3), (0.25, 2), (0.01, 1), (1.0, 8), (8, 8), (99, 8)]
)
def test_each_voter_sees_that_many_features_in_order(max_features, n_seen):
    subspaces = draw_subspaces(40, 8, max_features, np.random.default_rng(0))
    if n_seen == 8:
        assert subspaces is None
        return
    assert subspaces.shape == (40, n_seen)
    assert np.all(np.diff(subspaces, axis=1) > 0)
    assert set(subspaces.ravel().tolist()) == set(range(8))
