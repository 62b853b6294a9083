"""scikit-learn's own checks, for three ensembles that differ in kind.

The default, with linear voters and trees; the paper's, with linear voters that are measured after
training; and one of classifiers without ``partial_fit``, which are refitted at each increment.
"""

import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

from skliquid import LiquidEnsembleClassifier

PATIENT = SGDClassifier(n_iter_no_change=20)  # as the check of class weights wants it
DEFAULT = LiquidEnsembleClassifier(n_estimators=12)
PAPER = LiquidEnsembleClassifier(PATIENT, n_estimators=8, n_final=3, competence="training")
REFITTED = LiquidEnsembleClassifier(
    DecisionTreeClassifier(), n_estimators=8, n_final=3, mechanism="max", voting="hard"
)
ENSEMBLES = [DEFAULT, PAPER, REFITTED]


def expected_to_fail(ensemble):
    """Return the checks that fail by what the voters are."""
    if isinstance(ensemble.estimator, DecisionTreeClassifier):
        reason = "the check limits the weight in a leaf only if there is such a parameter"
        return {"check_class_weight_classifiers": reason}
    reason = "SGDClassifier takes one step per row, so it fails this check by itself"
    return {
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
