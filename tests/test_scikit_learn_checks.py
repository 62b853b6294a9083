"""scikit-learn's own checks, which raise, for every mechanism and three classes of voters."""

import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms import OF_THE_PAPER
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

PATIENT = SGDClassifier(n_iter_no_change=20)  # as the check of class weights wants it
TREES = [
    ("forest", RandomizedForestClassifier(4)),
    ("boosted", BoostedTreesClassifier(8, subsample=1.0)),
]
ENSEMBLES = [
    LiquidEnsembleClassifier(
        voter, n_estimators=8, n_final=3, mechanism=mechanism, competence="training"
    )
    for voter in (PATIENT, GaussianNB(), DecisionTreeClassifier())
    for mechanism in OF_THE_PAPER
] + [
    *(LiquidEnsembleClassifier(n_estimators=12, pool=pool) for pool in ("auto", "estimator")),
    LiquidEnsembleClassifier(TREES, n_estimators=8, n_final=3),
]


def expected_to_fail(ensemble):
    """Weights are not repetitions where chance depends on the number of rows."""
    voter, failures = ensemble.estimator, {}
    if isinstance(voter, DecisionTreeClassifier):
        reason = (
            "the check limits the weight in a leaf, if there is such a parameter; else it fails"
        )
        failures["check_class_weight_classifiers"] = reason
    if voter is None or isinstance(voter, SGDClassifier):
        reason = "SGDClassifier takes one step per row, so it fails this check by itself"
    elif isinstance(voter, list):
        reason = "other rows make other increments, and other random splits"
    elif isinstance(voter, DecisionTreeClassifier) and ensemble.mechanism == "random":
        reason = "other rows make other increments, after which other voters delegate at random"
    elif isinstance(voter, GaussianNB):
        failures["check_sample_weight_equivalence_on_dense_data"] = (
            "GaussianNB smooths by a variance without weights, which log-odds below -300 show"
        )
        return failures
    else:
        return failures
    return failures | {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # weights of 1000
@parametrize_with_checks(ENSEMBLES, expected_failed_checks=expected_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check", [check_param_validation, check_dataframe_column_names_consistency]
)
@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=repr)
def test_scikit_learn_checks_that_are_not_in_the_list(ensemble, check):
    check("LiquidEnsembleClassifier", ensemble)
