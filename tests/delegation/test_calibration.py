import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from small_ensembles import parts, small

from skliquid import LiquidEnsembleClassifier
from skliquid.delegation.calibration import (
    MIN_ROWS,
    POWERS,
    Calibration,
    GroupAnswers,
    log_losses,
)
from skliquid.delegation.votes import VOTINGS, tempered
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


def probabilities(n_rows, n_classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=n_rows)


def drawn_from(shares, seed=1):
    """Return labels that have these probabilities."""
    chance = np.random.default_rng(seed).random((len(shares), 1))
    return (shares.cumsum(axis=1) < chance).sum(axis=1).clip(max=shares.shape[1] - 1)


def calibrated(*increments, **options):
    """Return the calibration after increments of (shares, y) or (shares, y, weight)."""
    calibration = Calibration.empty(**options)
    for shares, y, *weight in increments:
        answers = GroupAnswers.of(shares, y, weight[0] if weight else None, is_soft=True)
        calibration = calibration.update(answers)
    return calibration


@st.composite
def answers(draw):
    """Probabilities of a group, labels, and weights of rows or None."""
    n_rows, n_classes = draw(st.integers(1, 30)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shares = rng.dirichlet(np.full(n_classes, 0.7), size=n_rows)
    shares = (shares + 0.01) / (1 + 0.01 * n_classes)  # scikit-learn clips log-losses
    y = rng.integers(n_classes, size=n_rows)
    return shares, y, rng.uniform(0.1, 5, n_rows) if draw(st.booleans()) else None


# The log-loss at several temperatures


@given(answers(), st.lists(st.sampled_from(range(len(POWERS))), min_size=1, max_size=3))
def test_losses_are_the_log_losses_of_tempered_probabilities(drawn, chosen):
    shares, y, weight = drawn
    options = {"sample_weight": weight, "labels": np.arange(shares.shape[1]), "normalize": False}
    expected = [log_loss(y, tempered(shares, power), **options) for power in POWERS[chosen]]
    np.testing.assert_allclose(log_losses(shares, y, weight)[chosen], expected, rtol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_losses_are_those_of_scikit_learn_at_every_power(n_classes):
    shares = 0.9 * probabilities(60, n_classes) + 0.1 / n_classes
    y = drawn_from(shares)
    expected = [log_loss(y, tempered(shares, power), normalize=False) for power in POWERS]
    np.testing.assert_allclose(log_losses(shares, y, None), expected, rtol=1e-7)


def test_the_powers_hold_one_and_grow_by_the_fourth_root_of_two():
    assert 1.0 in POWERS
    np.testing.assert_allclose(np.diff(np.log2(POWERS)), 0.25)
    assert (POWERS[0], POWERS[-1]) == (1 / 32, 4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_of_probability_zero_may_be_the_true_one(n_classes):
    shares = np.eye(n_classes)[[0, 0, 1]]
    losses = log_losses(shares, np.array([1, 0, 1]), None)
    assert np.isfinite(losses).all()
    assert np.argmin(losses) < np.flatnonzero(POWERS == 1)  # it was too certain
    assert losses[POWERS == 1] == pytest.approx(53 * np.log(2), rel=1e-6)


# The sums of an increment


@given(answers(), st.integers(0, 30))
def test_answers_on_parts_of_the_rows_add_up(drawn, at):
    shares, y, weight = drawn
    parts = [
        GroupAnswers.of(shares[cut], y[cut], None if weight is None else weight[cut], is_soft=True)
        for cut in (slice(at), slice(at, None))
    ]
    both, whole = parts[0] + parts[1], GroupAnswers.of(shares, y, weight, is_soft=True)
    np.testing.assert_allclose(both.losses, whole.losses)
    assert both.weight == pytest.approx(whole.weight)
    assert both.n_rows == whole.n_rows == len(y)
    assert np.array_equal(both.n_predicted, whole.n_predicted)
    assert np.array_equal(both.n_actual, whole.n_actual)


def test_answers_are_counted_by_predicted_and_by_true_class():
    shares = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
    found = GroupAnswers.of(shares, np.array([1, 1, 0]), np.array([1.0, 2.0, 3.0]), is_soft=True)
    assert found.n_predicted.tolist() == [1, 0, 2]  # a tie goes to the first
    assert found.n_actual.tolist() == [1, 2, 0]
    assert (found.n_rows, found.weight) == (3, 6.0)


# The temperature


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("power", [0.4, 1.0, 2.6])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_temperature_of_the_answers_is_recovered(n_classes, power, is_weighted):
    true = probabilities(40_000, n_classes)
    shares, y = tempered(true, 1 / power), drawn_from(true)
    weight = np.random.default_rng(2).uniform(0, 2, len(y)) if is_weighted else None
    found = calibrated((shares, y, weight)).power
    assert found == pytest.approx(power, rel=0.04)
    # and it is that of the least log-loss, also between the powers of the grid
    near = [
        log_loss(y, tempered(shares, p), sample_weight=weight)
        for p in (found * 0.96, found, found * 1.04)
    ]
    assert min(near) == near[1]


def test_nothing_is_calibrated_on_few_rows():
    shares = probabilities(MIN_ROWS, 3)
    y = drawn_from(tempered(shares, 0.2))
    assert calibrated((shares[1:], y[1:])).power == 1.0
    assert calibrated((shares, y)).power < 0.7
    assert calibrated((shares[:25], y[:25]), (shares[25:], y[25:])).power < 0.7
    assert Calibration.empty().power == 1.0


def test_recent_answers_count_more():
    true = probabilities(20_000, 2)
    y = drawn_from(true)
    sharp, blunt = (tempered(true, k) for k in (2.0, 0.5))  # of best powers 0.5 and 2
    first_sharp, first_blunt = (
        calibrated((a, y), (b, y)).power for a, b in ((sharp, blunt), (blunt, sharp))
    )
    assert 0.5 < first_blunt < first_sharp < 2.0
    later = calibrated((sharp, y), *[(blunt, y)] * 20).power
    assert later == pytest.approx(2.0, rel=0.05)


def test_an_increment_is_remembered_by_a_fifth_less_after_each_further_one():
    shares, y = probabilities(60, 2), np.zeros(60, dtype=int)
    once, nothing = calibrated((shares, y)), (np.empty((0, 2)), np.empty(0, dtype=int))
    later = calibrated((shares, y), nothing, nothing)
    np.testing.assert_allclose(later.losses, 0.64 * once.losses)
    assert later.weight == pytest.approx(0.64 * 60)
    assert later.n_rows == 60
    assert later.power == pytest.approx(once.power)


def test_the_temperature_stays_within_the_grid():
    shares = np.tile([[0.6, 0.4]], (80, 1))
    right, wrong = np.zeros(80, dtype=int), np.ones(80, dtype=int)
    assert calibrated((shares, right)).power == POWERS[-1]
    assert calibrated((shares, wrong)).power == POWERS[0]


@pytest.mark.parametrize("power", [0.4, 1.0, 2.6])
def test_probabilities_become_less_certain_but_not_more_where_they_must_not(power):
    true = probabilities(20_000, 3)
    answers = tempered(true, 1 / power), drawn_from(true)
    free, bound = calibrated(answers), calibrated(answers, answers, sharpens=False)
    assert free.power == pytest.approx(power, rel=0.04)
    assert bound.power == min(calibrated(answers, answers).power, 1.0)
    assert Calibration.empty(sharpens=False).power == 1.0


@given(answers())
def test_the_temperature_is_always_a_number_within_the_grid(drawn):
    shares, y, weight = drawn
    many = [np.tile(part, (50, 1)) for part in (shares, y[:, None])]
    weight = None if weight is None else np.tile(weight, 50)
    found = calibrated((many[0], many[1].ravel(), weight)).power
    assert POWERS[0] <= found <= POWERS[-1]


def test_weights_of_rows_decide_the_temperature():
    true = probabilities(20_000, 2)
    y = drawn_from(true)
    shares = np.concatenate([tempered(true, 2.0), tempered(true, 0.5)])
    y = np.concatenate([y, y])
    heavy = np.repeat([1.0, 1e-9], 20_000)
    assert calibrated((shares, y, heavy)).power == pytest.approx(0.5, rel=0.04)
    assert calibrated((shares, y, heavy[::-1])).power == pytest.approx(2.0, rel=0.04)


# In an ensemble


def test_answers_before_training_are_what_an_ensemble_is_calibrated_by(binary):
    X, y = binary
    ensemble = small(SGDClassifier(), competence="contribution", final_fit=False)
    calibration = Calibration.empty()
    for start in range(0, 560, 70):
        rows = slice(start, start + 70)
        if start:
            shares = ensemble._group(ensemble._fitted.training).combined(
                VOTINGS["soft"].shares, "probabilities", X[rows]
            )
            answers = GroupAnswers.of(shares, y[rows], None, is_soft=True)
            calibration = calibration.update(answers)
        ensemble.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert ensemble.temperature_ == pytest.approx(1 / calibration.power, rel=1e-9)
    assert ensemble.temperature_ > 1  # margins of a hinge loss are too certain


def test_the_log_loss_of_an_ensemble_is_better_at_its_temperature(binary):
    X, y = binary
    ensemble = small(SGDClassifier(), competence="contribution").fit(X[:400], y[:400])
    calibrated = ensemble.predict_proba(X[400:])
    as_they_are = tempered(calibrated, ensemble.temperature_)
    assert log_loss(y[400:], calibrated) < log_loss(y[400:], as_they_are)


@pytest.mark.parametrize("options", [{"competence": "training"}, {"increment_size": 540}])
def test_the_temperature_is_one_where_nothing_is_calibrated(binary, options):
    options = {"competence": "contribution"} | options
    assert small(SGDClassifier(), **options).fit(*binary).temperature_ == 1


@pytest.mark.parametrize("voter", [RandomizedForestClassifier(), None], ids=str)
def test_trees_that_are_grown_again_at_the_end_are_not_made_more_certain(binary, voter):
    X, y = binary
    options = {"competence": "contribution", "n_estimators": 12}
    through = small(voter, final_fit=False, **options).fit(X, y)
    assert through.temperature_ < 0.9  # means over a few trees are not certain enough
    refitted = small(voter, **options).fit(X, y)
    assert refitted.temperature_ == 1
    stream = small(voter, **options)
    for X_part, y_part in parts(X, y, 100):
        stream.partial_fit(X_part, y_part)
    assert stream.temperature_ < 0.9


def test_trees_that_are_grown_again_at_the_end_may_be_made_less_certain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = rng.random(1000) < np.where(X[:, 0] > 0, 0.6, 0.4)
    steep = BoostedTreesClassifier(40, learning_rate=1.0, max_depth=8)
    assert small(steep, competence="contribution").fit(X, y).temperature_ > 1.5


@pytest.mark.parametrize("competence", ["contribution", "prequential"])
def test_hard_votes_have_no_temperature(binary, competence):
    X, y = binary
    ensemble = small(SGDClassifier(), competence=competence, voting="hard").fit(X, y)
    assert ensemble.temperature_ == 1
    shares = ensemble.predict_proba(X) * 12
    np.testing.assert_allclose(shares, shares.round(), atol=1e-12)


@pytest.mark.parametrize("weight", [None, np.linspace(0, 2, 30)])
def test_losses_of_many_classes_follow_from_a_few_exponentials(weight, monkeypatch):
    shares = probabilities(30, 400)
    shares[:10] = np.eye(400)[:10]  # certain
    y = np.arange(30) % 12
    found = log_losses(shares, y, weight)
    monkeypatch.setattr("skliquid.delegation.calibration.MANY_CLASSES", 400)
    np.testing.assert_allclose(found, log_losses(shares, y, weight), rtol=1e-12)


def test_trees_may_become_more_certain_with_many_classes():
    ensemble = LiquidEnsembleClassifier()
    sharpens = [ensemble._rules(3, n, has_trees=True).sharpens for n in (2, 256, 257)]
    assert sharpens == [False, False, True]
