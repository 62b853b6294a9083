import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import sem
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import same, small

from skliquid import CompetenceMeasure, prune, revocable
from skliquid.delegation.calibration import POWERS
from skliquid.delegation.competence import (
    CONTRIBUTION_SHARE,
    Panel,
    as_measure,
    contributions,
    evaluate,
)
from skliquid.delegation.rows import Rows
from skliquid.delegation.running_averages import DecayedAverage, OverallAverage, RecentAverage
from skliquid.delegation.votes import LEAST_SHARE, VOTINGS, mean_probabilities
from skliquid.mechanisms import MECHANISMS


class AnsweringPool:
    """Voters whose probabilities are known: X holds the numbers of the rows."""

    def __init__(self, probabilities):
        self.known = probabilities

    def probabilities(self, voters, X):
        return self.known[voters][:, X[:, 0].astype(int)]

    def vote(self, voters, X):
        return self.probabilities(voters, X).argmax(axis=2)


def panel(probabilities, weights, y, sample_weight=None, voting="soft"):
    n_voters, n_rows, n_classes = probabilities.shape
    rows = Rows(np.arange(n_rows)[:, None], y, sample_weight)
    pool, voters = AnsweringPool(probabilities), np.arange(n_voters)
    return Panel(pool, voters, weights, VOTINGS[voting], n_classes, rows)


@st.composite
def panels(draw):
    """Probabilities of voters, their weights, labels, and weights of rows."""
    n_voters, n_rows, n_classes = (draw(st.integers(low, high)) for low, high in SIZES)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return (
        rng.dirichlet(np.full(n_classes, 0.5), size=(n_voters, n_rows)),
        rng.integers(1, 9, size=n_voters),
        rng.integers(n_classes, size=n_rows),
        rng.choice([0.5, 1.0, 3.0], size=n_rows) if draw(st.booleans()) else None,
    )


SIZES = [(2, 6), (1, 12), (2, 5)]


def brier(shares, y, sample_weight=None):
    """Return the Brier score of the group, averaged over rows."""
    error = np.eye(shares.shape[1])[y] - shares
    return np.average((error**2).sum(axis=1), weights=sample_weight)


# Laws of contribution


def mean_contributions(drawn, share):
    """Return the contributions of all voters, averaged over rows."""
    probabilities, weights, y, sample_weight = drawn
    shares = mean_probabilities(probabilities, weights, probabilities.shape[2])
    return np.average(contributions(probabilities, shares, y, share), axis=1, weights=sample_weight)


@given(panels())
def test_a_contribution_is_half_the_derivative_of_the_groups_brier_score(drawn):
    probabilities, weights, y, sample_weight = drawn
    for voter, contribution in enumerate(mean_contributions(drawn, share=0.0)):
        # a small share of the weight moves from the group, as it is, to the voter
        shares = mean_probabilities(probabilities, weights, probabilities.shape[2])
        step = 1e-6
        moved = [shares + s * (probabilities[voter] - shares) for s in (step, -step)]
        slope = (brier(moved[0], y, sample_weight) - brier(moved[1], y, sample_weight)) / (2 * step)
        assert contribution == pytest.approx(-slope / 2, abs=1e-8)


@given(panels(), st.sampled_from([0.0, 1e-3, 0.1, 0.5, 1.0]))
def test_a_share_of_all_weight_lowers_the_brier_score_by_twice_its_contribution(drawn, share):
    probabilities, weights, y, sample_weight = drawn
    shares = mean_probabilities(probabilities, weights, probabilities.shape[2])
    before = brier(shares, y, sample_weight)
    for voter, contribution in enumerate(mean_contributions(drawn, share)):
        # the share moves from the group, as it is, to the voter
        after = brier((1 - share) * shares + share * probabilities[voter], y, sample_weight)
        assert before - after == pytest.approx(2 * share * contribution, abs=1e-12)


@given(panels())
def test_the_whole_weight_compares_the_brier_score_of_the_voter_with_that_of_the_group(drawn):
    probabilities, weights, y, sample_weight = drawn
    group = mean_probabilities(probabilities, weights, probabilities.shape[2])
    own = [brier(answers, y, sample_weight) for answers in probabilities]
    expected = (brier(group, y, sample_weight) - np.array(own)) / 2
    np.testing.assert_allclose(mean_contributions(drawn, share=1.0), expected, atol=1e-12)


@given(panels())
def test_training_measures_contributions_for_half_of_all_weight(drawn):
    found = evaluate(panel(*drawn), by_contribution=True).measured.values
    np.testing.assert_allclose(
        found, mean_contributions(drawn, share=CONTRIBUTION_SHARE), atol=1e-12
    )
    assert CONTRIBUTION_SHARE == 0.5


@given(panels())
def test_a_gain_is_what_a_delegation_does_to_the_groups_brier_score(drawn):
    probabilities, weights, y, sample_weight = drawn
    found = mean_contributions(drawn, share=0.0)
    step = 1e-6  # of all weight, from voter 0 to voter 1
    moved = np.stack([weights / weights.sum()] * 2)
    moved[0, :2] += [-step, step]
    moved[1, :2] += [step, -step]
    after, before = (brier(np.tensordot(w, probabilities, 1), y, sample_weight) for w in moved)
    assert found[1] - found[0] == pytest.approx(-(after - before) / (4 * step), abs=1e-8)


@given(panels())
def test_contributions_average_to_zero_over_the_group_or_less_where_voters_differ(drawn):
    probabilities, weights, _, sample_weight = drawn
    first_order = np.average(mean_contributions(drawn, share=0.0), weights=weights)
    assert first_order == pytest.approx(0, abs=1e-12)
    shares = mean_probabilities(probabilities, weights, probabilities.shape[2])
    apart = ((probabilities - shares) ** 2).sum(axis=2)
    ambiguity = np.average(np.average(apart, axis=1, weights=sample_weight), weights=weights)
    found = evaluate(panel(*drawn), by_contribution=True).measured.values
    expected = -CONTRIBUTION_SHARE / 2 * ambiguity
    assert np.average(found, weights=weights) == pytest.approx(expected, abs=1e-12)


@given(panels())
def test_a_voter_that_repeats_the_group_contributes_nothing(drawn):
    probabilities, weights, y, sample_weight = drawn
    shares = mean_probabilities(probabilities, weights, probabilities.shape[2])
    probabilities, weights = np.concatenate([probabilities, [shares]]), np.append(weights, 4)
    found = evaluate(panel(probabilities, weights, y, sample_weight), by_contribution=True)
    assert found.measured.values[-1] == pytest.approx(0, abs=1e-12)


@given(panels(), st.randoms(use_true_random=False))
def test_names_of_classes_do_not_matter(drawn, random):
    probabilities, weights, y, sample_weight = drawn
    order = list(range(probabilities.shape[2]))
    random.shuffle(order)
    renamed = panel(probabilities[:, :, order], weights, np.argsort(order)[y], sample_weight)
    found = [evaluate(p, by_contribution=True).measured for p in (panel(*drawn), renamed)]
    np.testing.assert_allclose(found[0].values, found[1].values, atol=1e-12)


def test_an_example_by_hand():
    # the group says (0.6, 0.4) and (0.3, 0.7); the labels are the first and the second class
    probabilities = np.array([[[0.9, 0.1], [0.0, 1.0]], [[0.5, 0.5], [0.4, 0.6]]])
    weights, y = np.array([1, 3]), np.array([0, 1])
    shares = mean_probabilities(probabilities, weights, 2)
    np.testing.assert_allclose(shares, [[0.6, 0.4], [0.3, 0.7]])
    by_row = [[2 * 0.3 * 0.4, 2 * 0.3 * 0.3], [2 * -0.1 * 0.4, 2 * -0.1 * 0.3]]
    np.testing.assert_allclose(contributions(probabilities, shares, y), by_row)
    # the voters are (0.3, -0.3) and (-0.1, 0.1) away from the group, on both rows or their mirror
    penalty = np.array([0.25 * 2 * 0.3**2, 0.25 * 2 * 0.1**2])
    by_row = np.array(by_row) - penalty[:, None]
    np.testing.assert_allclose(contributions(probabilities, shares, y, share=0.5), by_row)
    found = evaluate(panel(probabilities, weights, y), by_contribution=True)
    np.testing.assert_allclose(found.measured.values, [0.21 - 0.045, -0.07 - 0.005])
    np.testing.assert_allclose(found.measured.variance, [0.03**2, 0.01**2])
    assert found.accuracy.values.tolist() == [1.0, 1.0]  # a tie goes to the first class
    heavy = evaluate(panel(probabilities, weights, y, np.array([3.0, 1.0])), by_contribution=True)
    np.testing.assert_allclose(heavy.measured.values, [0.225 - 0.045, -0.075 - 0.005])
    assert heavy.measured.n_rows == 16 / 10


def test_hard_votes_contribute_as_probabilities_of_zero_and_one():
    probabilities = np.array([[[0.9, 0.1]], [[0.4, 0.6]]])
    hard = panel(probabilities, np.array([3, 1]), np.array([0]), voting="hard")
    found = evaluate(hard, by_contribution=True).measured.values
    first_order = np.array([2 * 0.25 * 0.25, -2 * 0.75 * 0.25])
    np.testing.assert_allclose(found, first_order - 0.25 * np.array([2 * 0.25**2, 2 * 0.75**2]))


@given(panels())
@settings(deadline=None)
def test_rows_are_evaluated_in_blocks(drawn):
    whole = evaluate(panel(*drawn), by_contribution=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skliquid.delegation.competence._NUMBERS_AT_ONCE", 20)
        parts = evaluate(panel(*drawn), by_contribution=True)
    np.testing.assert_allclose(parts.measured.values, whole.measured.values, atol=1e-12)
    np.testing.assert_allclose(parts.measured.variance, whole.measured.variance, atol=1e-12)
    assert np.array_equal(parts.accuracy.values, whole.accuracy.values)
    np.testing.assert_allclose(parts.group.losses, whole.group.losses)
    assert np.array_equal(parts.group.n_predicted, whole.group.n_predicted)


@pytest.mark.parametrize(
    ("numbers_at_once", "sizes"), [(1, [1] * 5), (23, [1] * 5), (24, [2, 2, 1]), (60, [5])]
)
def test_blocks_hold_no_more_numbers_than_allowed_or_one_row(monkeypatch, numbers_at_once, sizes):
    blocks = []

    class Spy(AnsweringPool):
        def probabilities(self, voters, X):
            blocks.append(X)
            return super().probabilities(voters, X)

    monkeypatch.setattr("skliquid.delegation.competence._NUMBERS_AT_ONCE", numbers_at_once)
    asked = panel(np.full((3, 5, 4), 0.25), np.ones(3, int), np.array([0, 0, 1, 2, 3]))
    asked = asked._replace(pool=Spy(asked.pool.known))
    for asks_group in (True, False):
        blocks.clear()
        found = evaluate(asked, asks_group=asks_group)
        assert list(map(len, blocks)) == sizes
        assert found.accuracy.values.tolist() == [0.4] * 3  # in a tie the first class
        assert (found.group is not None) == asks_group
    assert len(sizes) > 1 or blocks[0] is asked.rows.X  # what fits is not copied


@given(panels())
def test_the_group_is_asked_by_the_weights_of_voters_and_of_rows(drawn):
    probabilities, weights, y, sample_weight = drawn
    group = evaluate(panel(*drawn)).group
    shares = np.average(probabilities, axis=0, weights=weights)
    by_row = -np.log(np.maximum(shares[np.arange(len(y)), y], LEAST_SHARE))
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    plain = np.flatnonzero(POWERS == 1).item()  # without a temperature
    assert group.losses[plain] == pytest.approx(by_row @ weight)
    assert (group.weight, group.n_rows) == (weight.sum(), len(y))


@given(panels())
def test_the_variance_is_that_of_a_weighted_mean(drawn):
    probabilities, weights, y, sample_weight = drawn
    shares = mean_probabilities(probabilities, weights, probabilities.shape[2])
    gains = contributions(probabilities, shares, y, CONTRIBUTION_SHARE)
    share = np.full(len(y), 1 / len(y)) if sample_weight is None else sample_weight
    share = share / share.sum()
    n_effective = 1 / (share**2).sum()
    found = evaluate(panel(*drawn), by_contribution=True).measured
    assert found.n_rows == pytest.approx(n_effective)
    if sample_weight is None and len(y) > 1:
        np.testing.assert_allclose(found.variance, sem(gains, axis=1) ** 2, atol=1e-12)
    elif n_effective > 2:
        deviations = gains - found.values[:, None]
        expected = (share**2 * deviations**2).sum(axis=1) * n_effective / (n_effective - 1)
        np.testing.assert_allclose(found.variance, expected, atol=1e-12)


@pytest.mark.parametrize("weight", [None, 1.0, 3.0])
def test_the_variance_of_one_row_is_that_about_zero(weight):
    probabilities = np.array([[[0.9, 0.1]], [[0.5, 0.5]]])
    sample_weight = None if weight is None else np.array([weight])
    asked = panel(probabilities, np.array([1, 1]), np.array([0]), sample_weight)
    found = evaluate(asked, by_contribution=True).measured
    np.testing.assert_allclose(found.variance, found.values**2)
    assert found.n_rows == 1


def test_the_accuracy_of_plain_rows_is_a_count():
    probabilities = np.array([[[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]])
    found = evaluate(panel(probabilities, np.array([1]), np.array([0, 0, 1]))).accuracy
    assert found.is_count
    assert found.n_rows == 3


def test_the_accuracy_of_weighted_rows_is_weighted():
    probabilities = np.array([[[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]])
    rows = panel(probabilities, np.array([1]), np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]))
    found = evaluate(rows)
    assert found.measured is found.accuracy
    assert found.accuracy.values.tolist() == [0.5]
    assert not found.accuracy.is_count


# In an ensemble

TREES_AND_LINES = [("tree", DecisionTreeClassifier(max_depth=3)), ("line", SGDClassifier())]


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("mechanism", [*MECHANISMS, "revocable"])
def test_contribution_works_with_every_mechanism_and_pool(multiclass, mechanism, voting):
    X, y = multiclass
    chosen = revocable("max") if mechanism == "revocable" else mechanism
    options = {"mechanism": chosen, "competence": "contribution", "voting": voting}
    if mechanism == "learning_slopes":
        options["competence"] = CompetenceMeasure("contribution", memory=5)
    make = partial(small, TREES_AND_LINES, **options)
    ours, theirs = make().fit(X, y), make(pool="estimator", n_jobs=2).fit(X, y)
    assert same(ours, theirs, X)
    assert ours.score(X, y) > 0.8
    if mechanism != "direct":
        assert len(ours.estimators_) < 12


def test_what_decides_is_the_contribution(binary):
    X, y = binary
    ensemble = small(GaussianNB(), competence="contribution", max_features=3).fit(X, y)
    step = next(step for step in ensemble.record_ if len(step.delegators))
    competence = dict(zip(step.voters, step.competence, strict=True))
    weakest = sorted(competence, key=competence.get)[: len(step.delegators)]
    assert sorted(step.delegators) == sorted(weakest)
    assert not np.array_equal(step.competence, step.accuracy)
    assert np.all((step.accuracy >= 0) & (step.accuracy <= 1))


def test_a_copy_of_a_better_voter_is_worth_less_than_a_different_one():
    # two voters that repeat each other, and a weaker one that errs elsewhere
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    right = rng.random((2, len(y))) < np.array([[0.8], [0.75]])
    votes = np.where(right[[0, 0, 0, 1]], y, 1 - y)
    probabilities = np.where(votes[:, :, None] == np.arange(2), 0.9, 0.1)
    found = evaluate(panel(probabilities, np.ones(4, int), y), by_contribution=True)
    assert found.accuracy.values[0] > found.accuracy.values[3]
    assert found.measured.values[0] < found.measured.values[3]


def test_prune_evaluates_from_the_first_increment(binary):
    X, y = binary
    voters = [GaussianNB(var_smoothing=10.0**-k).fit(X[:, :3], y) for k in range(6)]
    for competence in ("contribution", "prequential", "training"):
        pruned = prune(voters, X[:, :3], y, n_final=2, competence=competence, random_state=0)
        assert not np.isnan(pruned.record_[0].accuracy).any()


# Competence as a value


def test_competence_says_what_is_measured_and_when():
    probabilities = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.2, 0.8]]])
    asked = panel(probabilities, np.array([1, 2]), np.array([0, 1]))
    training, prequential, contribution = map(
        CompetenceMeasure, ("training", "prequential", "contribution")
    )
    assert not training.before_training
    assert prequential.before_training
    assert contribution.before_training
    for competence in (training, prequential):
        found = competence.evaluate(asked)
        assert found.measured is found.accuracy
        assert found.accuracy.values.tolist() == [1.0, 0.5]
    assert training.evaluate(asked).group is None  # the voters have seen the labels
    assert prequential.evaluate(asked).group.n_rows == 2
    found = contribution.evaluate(asked)
    assert found.accuracy.values.tolist() == [1.0, 0.5]
    assert found.measured.values[0] > found.measured.values[1]
    assert found.group.n_rows == 2


def test_memory_chooses_the_running_average():
    averages = [
        CompetenceMeasure(memory=memory).new_average(3, is_revocable=True)
        for memory in (None, 5, 0.9)
    ]
    assert list(map(type, averages)) == [OverallAverage, RecentAverage, DecayedAverage]
    assert (averages[1].window, averages[2].factor) == (5, 0.9)
    assert [len(average.mean) for average in averages] == [3, 3, 3]
    assert CompetenceMeasure(memory=1).new_average(3, is_revocable=True).window == 1


def test_automatic_memory_is_limited_where_delegations_are_revocable():
    assert CompetenceMeasure().new_average(3, is_revocable=True).window == 20
    assert isinstance(CompetenceMeasure().new_average(3, is_revocable=False), OverallAverage)


def test_a_name_stands_for_a_competence():
    assert as_measure("training") == CompetenceMeasure("training", memory="auto")
    forgetful = CompetenceMeasure(memory=0.5)
    assert as_measure(forgetful) is forgetful
    assert pickle.loads(pickle.dumps(forgetful)) == forgetful


@pytest.mark.parametrize("wrong", ["accuracy", None, 3, ["training"]])
def test_unknown_measures_are_refused(wrong):
    with pytest.raises(ValueError, match="competence must be measured as one of contribution, pre"):
        as_measure(wrong)


@pytest.mark.parametrize("memory", [0, -3, 0.0, 1.0, 2.5, float("nan"), "always", [5]])
def test_wrong_memories_are_refused(memory):
    with pytest.raises(ValueError, match=r"memory must be an integer of 1 or more, .*: got "):
        CompetenceMeasure(memory=memory)


def test_with_many_classes_voters_are_asked_about_some_of_the_rows(monkeypatch):
    monkeypatch.setattr("skliquid.delegation.competence._NUMBERS_PER_VOTER", 300 * 10)
    rng = np.random.default_rng(0)
    known, y = rng.dirichlet(np.ones(300), size=(2, 35)), rng.integers(300, size=35)
    rows = Rows(np.arange(35.0)[:, None], y, np.linspace(1, 2, 35))
    some = rows.at(slice(None, None, 4))
    panel = Panel(AnsweringPool(known), np.arange(2), np.ones(2), VOTINGS["soft"], 300, rows)
    asked = evaluate(panel, by_contribution=True)
    expected = evaluate(panel._replace(rows=some), by_contribution=True)
    assert asked.group.n_rows == expected.group.n_rows == 9
    assert np.array_equal(asked.measured.values, expected.measured.values)
    fewer = Panel(AnsweringPool(known[..., :256]), *panel[1:4], 256, rows._replace(y=y % 256))
    assert evaluate(fewer).group.n_rows == 35
