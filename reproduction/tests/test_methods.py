import json

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from reproduction import methods
from reproduction.methods import _scores, run
from reproduction.mixture_weights import likelihoods_of_votes
from reproduction.protocols import PROTOCOLS, Halves, halves
from reproduction.tests.small_results import SMALL
from skliquid import LiquidEnsembleClassifier, as_mechanism
from skliquid.delegation.rows import Rows
from skliquid.delegation.votes import minimum_majority
from skliquid.mechanisms import Rounded

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RECORDED = {
    "accuracy_one_pass", "accuracy_final", "f1_first_final", "f1_second_final", "f1_macro_final",
    "balanced_accuracy_final", "cost_increments", "cost_final_fit", "seconds", "n_representatives",
    "minimum_majority", "largest_share", "gini", "curve_representatives", "curve_accuracy",
    "curve_minimum_majority", "curve_largest_share",
}  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_everything_is_recorded_and_can_be_written(protocol):
    result = run(SMALL, halves("heart", None, protocol, 1), PROTOCOLS[protocol], 3)
    assert set(result) >= RECORDED
    assert json.loads(json.dumps(result)).keys() == result.keys()


def test_our_rules_are_those_of_the_classifier():
    data = halves("heart", None, "ours", 1)
    result = run(SMALL, data, PROTOCOLS["ours"], 3)
    ensemble = LiquidEnsembleClassifier(
        SGDClassifier(),
        n_estimators=20,
        n_final=4,
        increment_size=20,
        delegation_rate=Rounded(0.3),
        competence="training",
        voting="hard",
        random_state=3,
    ).fit(data.X_train, data.y_train)
    assert result["accuracy_final"] == ensemble.score(data.X_test, data.y_test)
    assert result["cost_increments"] == ensemble.training_cost_.increments
    assert result["cost_final_fit"] == ensemble.training_cost_.final_fit


def test_under_the_papers_rules_representatives_train_until_the_data_end():
    data = halves("heart", None, "paper", 1)
    quick = SMALL | {"delegation_rate": 0.85, "mechanism": "random"}
    result = run(quick, data, PROTOCOLS["paper"], 3)
    assert result["n_increments"] == 7
    assert result["curve_representatives"] == [4] * 7
    assert result["cost_increments_nominal"] == 20 * (20 + 6 * 4)
    stopped = run(quick | {"goes_on": False}, data, PROTOCOLS["paper"], 3)
    assert stopped["n_increments"] == 1
    assert stopped["accuracy_final"] == result["accuracy_final"]


def test_where_nobody_is_asked_to_delegate_there_is_an_increment_still():
    method = SMALL | {"final_fit": False, "goes_on": False, "n_final": 20}
    result = run(method, halves("heart", None, "ours", 1), PROTOCOLS["ours"], 3)
    assert (result["n_increments"], result["n_representatives"]) == (1, 20)


def test_without_final_fit_training_ends_with_delegation():
    data = halves("heart", None, "paper", 1)
    method = SMALL | {"final_fit": False, "goes_on": False, "mechanism": "direct"}
    result = run(method, data, PROTOCOLS["paper"], 3)
    assert result["n_increments"] == 5  # 20, 14, 10, 7, 5, 4
    assert not np.isnan(result["curve_accuracy"]).any()
    assert result["curve_accuracy"][-1] == result["accuracy_one_pass"]
    assert "accuracy_final" not in result


@pytest.mark.parametrize("n_classes", [2, 3])
def test_measures_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(0)
    for most in range(1, n_classes + 1):
        y, predicted = rng.integers(0, n_classes, 90), rng.integers(0, most, 90)
        empty = np.empty((0, 1))
        ours = _scores(predicted, Halves(empty, y[:0], empty, y, n_classes), "final")
        each = f1_score(y, predicted, average=None, labels=range(n_classes), zero_division=0.0)
        assert ours["accuracy_final"] == accuracy_score(y, predicted)
        assert [ours["f1_first_final"], ours["f1_second_final"]] == pytest.approx(list(each[:2]))
        assert ours["f1_macro_final"] == pytest.approx(each.mean())
        assert ours["balanced_accuracy_final"] == pytest.approx(
            balanced_accuracy_score(y, predicted)
        )


def test_three_classes(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(
        f"{a:.3f},{b:.3f},{'abc'[int(a > 0) + int(b > 0)]}\n" for a, b in rng.normal(size=(240, 2))
    )
    path = tmp_path / "three.csv"
    path.write_text("x,y,kind\n" + rows)
    for protocol in PROTOCOLS:
        result = run(SMALL, halves(str(path), "kind", protocol, 0), PROTOCOLS[protocol], 1)
        assert result["accuracy_final"] > 0.7
        assert 0.5 < result["balanced_accuracy_final"] <= 1


def test_a_class_that_only_the_test_half_has(tmp_path):
    path = tmp_path / "rare.csv"
    path.write_text("x,kind\n" + "1,a\n2,b\n" * 20 + "3,once\n")
    wrong = "must have rows of all 3 classes in its training half: that of .* has 2"
    seed = next(s for s in range(20) if np.random.default_rng(s).permutation(41)[:20].max() < 40)
    with pytest.raises(ValueError, match=wrong):
        halves(str(path), None, "ours", seed)


def test_boosting_counts_its_passes():
    data = halves("heart", None, "ours", 1)
    method = {"method": "adaboost", "estimator": "tree", "n_estimators": 10}
    result = run(method, data, PROTOCOLS["ours"], 3)
    assert result["cost_final_fit"] == result["n_representatives"] * len(data.y_train)


def test_boosting_that_is_refused_is_counted():
    data = halves("credit-approval", None, "paper", 1)
    rng = np.random.default_rng(0)
    noise = Halves(
        rng.normal(size=(40, 2)), rng.integers(0, 2, 40), data.X_test[:, :2], data.y_test, 2
    )
    method = {"method": "adaboost", "estimator": "sgd", "n_estimators": 10}
    results = [run(method, noise, PROTOCOLS["paper"], seed) for seed in range(20)]
    assert {result.get("refused", False) for result in results} == {True, False}


def test_the_papers_rules_are_those_of_the_classifier_as_in_the_paper():
    data = halves("ionosphere", None, "paper", 1)
    result = run(SMALL | {"final_fit": False}, data, PROTOCOLS["paper"], 3)
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(
        n_estimators=20,
        n_final=4,
        increment_size=20,
        delegation_rate=Rounded(0.3, "floor"),
        final_fit=False,
        random_state=3,
    ).fit(data.X_train, data.y_train)
    assert {len(features) for features in ensemble.estimators_features_} == {20}
    assert result["accuracy_one_pass"] == ensemble.score(data.X_test, data.y_test)
    assert result["cost_increments"] == ensemble.training_cost_.increments


def test_rules_may_be_set_back():
    data = halves("ionosphere", None, "paper", 1)
    method = SMALL | {"final_fit": False, "mechanism": "random", "n_estimators": 40}
    settings = {
        (features, candidates): run(
            method | {"features_per_voter": features, "candidates": candidates},
            data,
            PROTOCOLS["paper"],
            3,
        )
        for features in ("all", 20)
        for candidates in ("representatives", "voters")
    }
    assert len({result["cost_increments"] for result in settings.values()}) == 1
    assert len({result["accuracy_one_pass"] for result in settings.values()}) > 2
    assert run(method, data, PROTOCOLS["paper"], 3) | {"seconds": 0} == settings[20, "voters"] | {
        "seconds": 0
    }


def test_all_features_are_seen_where_there_are_fewer():
    data = halves("heart", None, "paper", 1)
    few, every = (
        run(SMALL | {"features_per_voter": features}, data, PROTOCOLS["paper"], 3)
        for features in (20, "all")
    )
    assert few | {"seconds": 0} == every | {"seconds": 0}


def test_costs_follow_the_stopping_rule():
    data = halves("kr-vs-kp", None, "paper", 1)
    method = SMALL | {"features_per_voter": "all", "mechanism": "direct"}
    loss, objective = (
        run(method | {"stopping_rule": rule}, data, PROTOCOLS["paper"], 3)["cost_final_fit"]
        for rule in ("loss", "objective")
    )
    assert objective > 1.1 * loss


def test_trees_are_boosted_by_the_algorithm_that_the_rules_name():
    data = halves("kr-vs-kp", None, "paper", 1)
    method = {"method": "adaboost", "estimator": "tree", "n_estimators": 10}
    named = {
        name: run(method | {"boosting": name}, data, PROTOCOLS["paper"], 3)["accuracy_final"]
        for name in ("SAMME", "SAMME.R")
    }
    assert named["SAMME"] != named["SAMME.R"]
    assert run(method, data, PROTOCOLS["paper"], 3)["accuracy_final"] == named["SAMME.R"]
    assert run(method, data, PROTOCOLS["ours"], 3)["accuracy_final"] == named["SAMME"]


OTHER = SMALL | {"final_fit": False, "other_weights": True}


def test_other_weights_are_those_of_the_same_training():
    data = halves("ionosphere", None, "paper", 1)
    alone = run(OTHER | {"other_weights": False}, data, PROTOCOLS["paper"], 3)
    result = run(OTHER, data, PROTOCOLS["paper"], 3)
    assert {name: result[name] for name in alone} | {"seconds": 0} == alone | {"seconds": 0}
    settings = {
        "n_estimators": 20,
        "n_final": 4,
        "increment_size": 20,
        "delegation_rate": Rounded(0.3, "floor"),
        "final_fit": False,
        "random_state": 3,
    }
    for weights in ("equal", "log_odds"):
        ensemble = LiquidEnsembleClassifier.as_in_the_paper(**settings)
        mechanism = as_mechanism(ensemble.mechanism, vote_weights=weights)
        ensemble.set_params(mechanism=mechanism).fit(data.X_train, data.y_train)
        score = ensemble.score(data.X_test, data.y_test)
        assert result[f"accuracy_one_pass_{weights}"] == score
        majority = minimum_majority(ensemble.vote_weights_)
        assert result[f"minimum_majority_{weights}"] == majority


def test_weights_are_fitted_to_votes_from_before_training(monkeypatch):
    data = halves("ionosphere", None, "paper", 1)
    asked = []

    def remember(votes, y, n_classes):
        asked.append((votes, y))
        return likelihoods_of_votes(votes, y, n_classes)

    monkeypatch.setattr(methods, "likelihoods_of_votes", remember)
    run(OTHER, data, PROTOCOLS["paper"], 3)
    (before, y), (tested, y_test) = asked
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(
        n_estimators=20,
        n_final=4,
        increment_size=20,
        delegation_rate=Rounded(0.3, "floor"),
        final_fit=False,
        random_state=3,
    ).fit(data.X_train, data.y_train)
    rows = np.concatenate([increment.rows for increment in ensemble.record_])
    np.testing.assert_array_equal(y, data.y_train[rows[20:]])  # the first has no votes before
    np.testing.assert_array_equal(y_test, data.y_test)
    assert before.shape == (len(ensemble.estimators_), len(rows) - 20)
    shares = (tested == data.y_test).mean(axis=1)
    pairs = zip(ensemble.estimators_, ensemble.estimators_features_, strict=True)
    expected = [voter.score(data.X_test[:, seen], data.y_test) for voter, seen in pairs]
    np.testing.assert_allclose(shares, expected)


class Counting:
    """A pool whose votes are the number of increments that it has trained on."""

    n_trained = 0

    def train(self, voters, rows):
        self.n_trained += 1
        return len(voters)

    def vote(self, voters, X):
        return np.full((len(voters), len(X)), self.n_trained)


def test_votes_are_kept_from_before_training():
    pool = methods._VotesKept(Counting())
    for t in range(3):
        increment = Rows(np.zeros((t + 2, 1)), np.full(t + 2, 7 + t))
        assert pool.train(np.arange(5 - t), increment) == 5 - t
    votes, y = pool.votes_before_training(np.array([0, 2]))
    assert votes.tolist() == [[1, 1, 1, 2, 2, 2, 2]] * 2
    assert y.tolist() == [8, 8, 8, 9, 9, 9, 9]


def test_weights_are_equal_where_no_votes_were_given_before_training():
    data = halves("heart", None, "paper", 1)
    result = run(OTHER | {"increment_size": 135, "n_final": 20}, data, PROTOCOLS["paper"], 3)
    assert result["n_increments"] == 1
    assert result["accuracy_one_pass_fitted"] == result["accuracy_one_pass_equal"]


def test_ties_of_equal_votes_are_counted():
    data = halves("ionosphere", None, "paper", 1)
    pair = run(OTHER | {"n_estimators": 2, "n_final": 2}, data, PROTOCOLS["paper"], 3)
    alone = run(OTHER | {"n_estimators": 1, "n_final": 1}, data, PROTOCOLS["paper"], 3)
    assert 0 < pair["ties"] < 1
    assert alone["ties"] == 0
