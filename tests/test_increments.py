import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.increments import FIRST_ROUND, N_ROUNDS, rounds, slices
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


@given(st.integers(1, 10**8))
def test_auto_increments_are_few_enough_large_enough_and_equal(n_rows):
    sizes = [cut.stop - cut.start for cut in slices(n_rows, "auto")]
    assert sum(sizes) == n_rows
    assert len(sizes) == min(max(n_rows // 25, 1), 50)
    assert min(sizes) >= min(25, n_rows)
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 500), st.integers(1, 600))
def test_slices_cover_every_row_once_in_order(n_rows, size):
    cuts = slices(n_rows, size)
    assert [row for cut in cuts for row in range(n_rows)[cut]] == list(range(n_rows))
    assert all(cut.stop - cut.start == size for cut in cuts[:-1])


# Rounds for voters made of trees


def test_the_first_round_has_rows_of_most_classes():
    assert [rounds(10**6, all_rows=False, n_classes=n)[0].stop for n in (2, 500, 501)] == [
        FIRST_ROUND,
        FIRST_ROUND,
        2004,
    ]


@given(st.integers(1, 10**8), st.booleans())
def test_each_round_is_as_long_as_all_before_it(n_rows, all_rows):
    cuts = rounds(n_rows, all_rows=all_rows)
    starts, stops = [cut.start for cut in cuts], [cut.stop for cut in cuts]
    assert starts == [0, *stops[:-1]]
    assert stops[0] == min(-(-n_rows // 4), FIRST_ROUND)
    assert stops[1:-1] == [2 * start for start in starts[1:-1]]
    assert stops[-1] == min(max(2 * starts[-1], stops[0]), n_rows)


@given(st.integers(1, 10**8))
def test_there_are_three_rounds_where_a_final_fit_follows_and_else_enough_for_all_rows(n_rows):
    few, enough = rounds(n_rows, all_rows=False), rounds(n_rows, all_rows=True)
    assert few == enough[:N_ROUNDS]
    assert len(few) == min(n_rows, 3)
    assert few[-1].stop == min(n_rows, 4 * FIRST_ROUND)
    assert enough[-1].stop == n_rows
    assert len(enough) <= 17  # doubling reaches a hundred million rows


def test_the_increments_of_an_ensemble_are_rounds_where_some_voters_are_made_of_trees(binary):
    def increments(estimator, **options):
        ensemble = LiquidEnsembleClassifier(
            estimator, n_estimators=6, n_final=3, mechanism="random", random_state=0, **options
        )
        return [record.n_rows for record in ensemble.fit(*binary).record_]

    forest, linear = RandomizedForestClassifier(2), SGDClassifier()
    for estimator in (None, forest, [("linear", linear), ("forest", forest)]):
        assert increments(estimator) == [143, 143, 283]
        assert increments(estimator, increment_size=200) == [200, 200, 169]
    assert len(increments(linear)) == 22
    assert increments(forest, final_fit=False) == [143, 143, 283]


def test_delegation_of_trees_ends_after_a_few_thousand_rows():
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    options = {"n_estimators": 4, "n_final": 2, "random_state": 0}
    stump = BoostedTreesClassifier(4, max_depth=1)
    ensemble = LiquidEnsembleClassifier(stump, **options).fit(X, X[:, 0] > 0)
    assert [record.n_rows for record in ensemble.record_] == [2000, 2000, 4000]
    assert ensemble.training_cost_.final_fit == 2 * 4 * 16_000
    through = LiquidEnsembleClassifier(stump, final_fit=False, **options).fit(X, X[:, 0] > 0)
    assert [record.n_rows for record in through.record_] == [2000, 2000, 4000, 8000, 4000]
