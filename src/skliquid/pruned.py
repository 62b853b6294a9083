"""PrunedEnsemble and prune: a smaller, weighted ensemble of fitted voters."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skliquid import presets
from skliquid.delegation.arrays import Voters
from skliquid.delegation.calibration import Calibration, GroupAnswers
from skliquid.delegation.competence import as_measure, sample_of_rows
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.increments import slices
from skliquid.delegation.record import INCREMENTS_KEPT, TrainingRecord, VoterDescription
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import storable
from skliquid.diversity import final_step
from skliquid.fitted.ensemble_limits import Limits, check_limits
from skliquid.fitted.fitted_votes import (
    DELEGATION_PARAMETERS,
    Fitted,
    FittedVotes,
    Group,
    check_can_continue,
)
from skliquid.fitted.reduced import rows_to_time
from skliquid.fitted.stored_pruned import StoredPruned
from skliquid.mechanisms import MECHANISMS, FastestLearners, Sizes, as_mechanism
from skliquid.pools import FittedPool, FittedVoter
from skliquid.pruning_methods import PRUNING_METHODS, as_pruning_method, checked_votes
from skliquid.training import Rules, Training, train
from skliquid.validation.data_types import (
    check_convertible_labels,
    conversion_of,
    convertible_rows,
)
from skliquid.validation.input import check_classes, check_two_classes, encode
from skliquid.validation.parameters import LIMITS, check_delegation, one_of, shared_tags

_PREDICT_NUMBERS = (
    BaggingClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    VotingClassifier,
)
"""Ensembles that fit their voters to numbers in place of labels."""

_PREDICT_LABELS = (AdaBoostClassifier, FittedVotes)

_BOOSTED = {
    "CatBoostClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "LGBMClassifier",
    "XGBClassifier",
}
"""Sums of trees, of several libraries."""

_CANNOT_BE_FITTED = (
    "A pruned ensemble must not be cloned or fitted: its voters were fitted elsewhere. Call "
    "partial_fit to continue pruning, copy.deepcopy for a copy, or prune again after training; "
    "where a tool makes clones, pass a sklearn.frozen.FrozenEstimator of the pruned ensemble."
)


@storable
class PrunedEnsemble(ClassifierMixin, FittedVotes, BaseEstimator):
    """A weighted ensemble of voters that were fitted elsewhere: what :func:`prune` returns.

    It predicts, pickles, and shows its graph and record. It cannot be fitted or cloned, since its
    parameters do not say where its voters came from.

    Parameters
    ----------
    n_final, method, mechanism, delegation_rate, increment_size, competence, voting, max_bytes, \
    max_predict_seconds, random_state
        As in :func:`prune`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, n_samples_seen_, estimators_, \
    estimators_features_, estimator_weights_, delegation_graph_, record_, temperature_, \
    training_cost_
        As in :class:`~skliquid.LiquidEnsembleClassifier`. The graph and the record exist only after
        delegation.
    chosen_ : array of int
        The positions of ``estimators_`` among the voters of the ensemble that was pruned.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DELEGATION_PARAMETERS,
        "method": [one_of(["delegation", *PRUNING_METHODS]), callable],
    }
    stored_as = StoredPruned
    _way_to_fit = "call skliquid.prune"
    _votes: NDArray[Any] | None = None  # of all voters, by a method other than delegation

    def __init__(
        self,
        *,
        n_final: Any = 10,
        method: Any = "delegation",
        mechanism: Any = "proportional_weighted",
        delegation_rate: Any = "auto",
        increment_size: Any = "auto",
        competence: Any = "contribution",
        voting: str = "soft",
        max_bytes: int | None = None,
        max_predict_seconds: float | None = None,
        random_state: Any = None,
    ):
        self.n_final = n_final
        self.method = method
        self.mechanism = mechanism
        self.delegation_rate = delegation_rate
        self.increment_size = increment_size
        self.competence = competence
        self.voting = voting
        self.max_bytes = max_bytes
        self.max_predict_seconds = max_predict_seconds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> NoReturn:
        """Raise an error: scikit-learn's tools accept only objects that have this method."""
        raise ValueError(_CANNOT_BE_FITTED)

    def __sklearn_clone__(self) -> NoReturn:
        raise ValueError(_CANNOT_BE_FITTED)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Continue pruning with more rows, on which the voters are evaluated.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, as the voters were given theirs.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All classes, which are known; accepted as in other classifiers.

        Returns
        -------
        self : PrunedEnsemble
            The ensemble.
        """
        training = self._ready()
        n_voters = training.graph.n_voters
        self._check_parameters(n_voters)
        if self._votes is not None or self.method != "delegation":
            raise ValueError(
                "method must be 'delegation' to continue pruning, since other methods need all "
                f"voters and rows at once: got {self.method!r}. Prune the ensemble again."
            )
        check_classes(classes, self.classes_)
        rules = self._rules(None, n_voters, len(self.classes_))
        check_can_continue(training, rules, n_voters, self._fitted.kept)
        rows = self._check_rows(X, y)
        training.record.max_increments = INCREMENTS_KEPT
        size = max(rows.n_rows, 1) if self.increment_size == "auto" else self.increment_size
        self._delegate(rows, slices(rows.n_rows, size), None, X)
        return self

    def _start(self, voters: Sequence[FittedVoter], classes: NDArray[Any], X: Any, y: Any) -> Self:
        """Let the weakest voters delegate, by how they do on ``X`` and ``y``."""
        self._check_parameters(len(voters))
        rng = np.random.default_rng(self.random_state)
        rules = self._rules(1, len(voters), len(classes))
        training = Training.start(FittedPool(voters), len(voters), rules, rng)
        training.record.voters = tuple(
            VoterDescription(type(final_step(voter.estimator)).__name__) for voter in voters
        )
        self._fitted = Fitted(classes, training=training, kept=training.graph.representatives)
        rows = self._check_rows(X, y)
        check_two_classes(classes[rows.y])
        if self.method == "delegation":
            cuts = presets.increments(rows.n_rows, self.increment_size)
            self._delegate(rows.at(rng.permutation(rows.n_rows)), cuts, len(cuts), X)
        else:
            self._choose(len(voters), rows, rng)
        return self

    def _choose(self, n_voters: int, rows: Rows, rng: np.random.Generator) -> None:
        """Keep the voters to which a method other than delegation gives votes."""
        training, order = self._trained("partial_fit"), rng.permutation(n_voters)
        answers = getattr(training.pool, self._voting.method)(order, rows.X)
        probabilities = self._voting.probabilities(answers, len(self.classes_))
        method = as_pruning_method(self.method)
        found = method(probabilities, rows.y, self.n_final)
        votes = checked_votes(found, method, n_voters, self.n_final)
        self._votes = votes[order.argsort()]
        self._calibrate(Calibration.empty(), rows)
        training.pool = training.pool.keep(self.chosen_, training_is_over=True)
        self._fitted = replace(self._fitted, kept=self.chosen_, n_samples_seen=rows.n_rows)

    def _delegate(self, rows: Rows, cuts: list[slice], n_increments: int | None, X: Any) -> None:
        """Evaluate the voters on ``rows``, increment by increment, and let the weakest delegate.

        Then more delegate until the limits hold, on ``X`` as given.
        """
        training = self._trained("partial_fit")
        rules = self._rules(n_increments, training.graph.n_voters, len(self.classes_))
        calibration = training.calibration
        train(training, rules, map(rows.at, cuts))
        n_seen = self._fitted.n_samples_seen + rows.n_rows
        fitted = replace(self._fitted, n_samples_seen=n_seen)
        to_time = None if self.max_predict_seconds is None else rows_to_time(X)
        Limits(self, to_time).keep(fitted)
        self._calibrate(calibration, rows)
        self._fitted = fitted.without_delegators(rules, training_is_over=True)

    def _calibrate(self, before: Calibration, rows: Rows) -> None:
        """Fit the temperature of the voters that are left to ``rows``, too."""
        training, rows = self._trained("temperature_"), sample_of_rows(rows, len(self.classes_))
        shares = self._shares(training, rows.X)
        answers = GroupAnswers.of(shares, rows.y, None, is_soft=self._voting.is_soft)
        training.calibration = before.update(answers)

    def _rules(self, n_increments: int | None, n_voters: int, n_classes: int) -> Rules:
        return Rules(
            mechanism=as_mechanism(self.mechanism),
            sizes=Sizes.of(
                presets.N_FINAL_RANGE if self.n_final == "auto" else self.n_final,
                self.delegation_rate,
                n_voters=n_voters,
                n_increments=n_increments,
            ),
            measure=as_measure(self.competence),
            voting=self._voting,
            n_classes=n_classes,
        )

    def _check_parameters(self, n_voters: int) -> None:
        self._validate_params()
        if self.n_final == "auto" and self.method != "delegation":
            raise ValueError(
                "n_final must be a number where method is not 'delegation', which alone chooses "
                f"it: got 'auto' with method={self.method!r}. Give the number of voters to keep."
            )
        check_delegation(self.n_final, n_voters, self.delegation_rate, limit="the number of voters")
        check_limits(self)
        for name in LIMITS:
            if getattr(self, name) is not None and self.method != "delegation":
                raise ValueError(
                    f"{name} must be None where method is not 'delegation', which alone goes on "
                    f"until it holds: got {getattr(self, name)} with method={self.method!r}. Leave "
                    "it out, or lower n_final."
                )

    def _check_rows(self, X: Any, y: Any) -> Rows:
        """Return the rows to evaluate on, with the answers of all voters that were not dropped."""
        check_convertible_labels(y)
        X = self._checked_data(X, y=y)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        n_seen, methods = self._fitted.n_samples_seen, [self._voting.method]
        answers = self._known_answers(methods, self._fitted.kept, X)
        return Rows(answers, encode(y, self.classes_), numbers=range(n_seen, n_seen + len(y)))

    def _check_X(self, X: Any, *methods: str) -> Any:
        X = self._checked_data(X)
        return self._known_answers(methods, self.chosen_, X)

    def _known_answers(self, methods: Sequence[str], voters: Any, X: Any) -> Any:
        with conversion_of("X", (OverflowError,)):  # by voters, each as it likes
            return self._pool.cache_predictions(methods, voters, X)

    def _checked_data(self, X: Any, **y: Any) -> Any:
        """Return rows that voters may convert: they were fitted to arrays, frames or texts."""
        if self.encoder_ is not None:
            return self.encoder_.rows(X)
        X = convertible_rows(X, are_numbers=False)
        with conversion_of("X"):
            validate_data(self, X, reset=False, skip_check_array=True, **y)
        return X

    @property
    def chosen_(self) -> Voters:
        """The positions of ``estimators_`` among the voters of the ensemble that was pruned."""
        return super()._representatives if self._votes is None else np.flatnonzero(self._votes)

    @property
    def _representatives(self) -> Voters:
        return self.chosen_

    @property
    def estimator_weights_(self) -> NDArray[Any]:
        """Votes that each of ``estimators_`` carries."""
        return super().estimator_weights_ if self._votes is None else self._votes[self.chosen_]

    @property
    def delegation_graph_(self) -> DelegationGraph:
        """All delegations."""
        self._check_delegated("delegation_graph_")
        return super().delegation_graph_

    @property
    def record_(self) -> TrainingRecord:
        """What happened at each increment."""
        self._check_delegated("record_")
        return super().record_

    def _check_delegated(self, name: str) -> None:
        if self._votes is not None:
            raise AttributeError(
                f"{name} exists only with method='delegation': with method={self.method!r} nobody "
                "delegates. See estimators_, chosen_ and estimator_weights_."
            )

    @property
    def uniform_share_(self) -> float:
        r"""The share of the votes that goes to all classes alike, where votes are soft.

        .. math:: 1 / (K + 1)

        for K voters: a further voter that knows nothing. Voters such as deep trees give classes a
        probability of zero on few rows' evidence; without it, the probability of a group of few
        voters would be zero as well.
        """
        return 1 / (len(self.chosen_) + 1) if self._voting.is_soft else 0.0

    def _summary(self) -> str:
        if self._votes is None:
            return super()._summary()
        chosen, name = len(self.chosen_), getattr(self.method, "__name__", self.method)
        return f"Of {len(self._votes)} voters {chosen} were chosen by the method {name}."

    def _group(self, training: Training) -> Group:
        if self._votes is None:
            return super()._group(training)
        votes = self._votes[self.chosen_]
        return Group(training.pool, self.chosen_, votes, len(self.classes_))

    def __sklearn_is_fitted__(self) -> bool:
        return self._votes is not None or super().__sklearn_is_fitted__()

    @property
    def _pool(self) -> Any:
        return self._trained("estimators_").pool

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The features that each of ``estimators_`` sees."""
        voters = self._pool.voters(self.chosen_)
        features = np.arange(self._n_columns)
        return [features if voter.features is None else voter.features for voter in voters]

    def voters(self) -> tuple[list[FittedVoter], NDArray[Any]]:
        """Return the representatives, each with how to ask for its predictions, and the classes."""
        return self._pool.voters(self.chosen_), self.classes_

    def to_stored(self) -> StoredPruned:
        """Return the parameters, the voters and the state of pruning, for model files."""
        return StoredPruned.of(self)

    @classmethod
    def from_stored(cls, stored: StoredPruned) -> Self:
        """Return an ensemble from a model file."""
        ensemble = cls(**stored.params)
        stored.restore(ensemble)
        return ensemble

    def __sklearn_tags__(self) -> Tags:
        fitted = self._fitted
        voters = [] if fitted.kept is None else self._pool.estimators(fitted.kept)
        return shared_tags(super().__sklearn_tags__(), voters)


def prune(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    n_final: Any = 10,
    method: Any = "delegation",
    mechanism: Any = "proportional_weighted",
    delegation_rate: Any = "auto",
    increment_size: Any = "auto",
    competence: Any = "contribution",
    voting: str = "soft",
    max_bytes: int | None = None,
    max_predict_seconds: float | None = None,
    random_state: Any = None,
) -> Any:
    """Return a smaller, weighted ensemble of the voters of a fitted one.

    The voters are evaluated on the given rows, increment by increment, and the weakest delegate, as
    in training; but no voter trains. Or a classical ``method`` chooses among them. Give rows that
    the voters were not trained on: on their own training rows, voters that overfit, such as trees,
    all look the same.

    Parameters
    ----------
    ensemble : classifier, pipeline or list of classifiers
        Fitted: a ``BaggingClassifier``, ``RandomForestClassifier``, ``ExtraTreesClassifier``,
        ``VotingClassifier``, ``AdaBoostClassifier``, ``LiquidEnsembleClassifier``,
        ``PrunedEnsemble``, or a list of classifiers that were fitted to the same labels, such as
        boosted models and pipelines. Their weights there are ignored: all voters start with one
        vote. A pipeline may end with one of these ensembles.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows to evaluate on, as the voters were given theirs: with missing values and columns of
        text where they accept them.
    y : array-like of shape (n_samples,)
        Their labels.
    method : {"delegation", "greedy", "reduced_error", "complementariness", "margin_distance", \
            "orientation", "drep", "individual_error", "kappa", "l1"} or callable, \
            default="delegation"
        How voters are chosen: by delegation, or by a function of :mod:`skliquid.pruning_methods`,
        where formulas and references are. A callable ``method(probabilities, y, n_final)`` returns
        the votes of each voter.
    n_final, mechanism, delegation_rate, increment_size, competence, voting, random_state
        As in :class:`~skliquid.LiquidEnsembleClassifier`; fitted voters are evaluated from the
        first increment on. A revocable mechanism keeps all voters;
        ``"learning_slopes"`` is refused, since fitted voters do not learn. Methods other than
        delegation use ``n_final``, which must be a number, ``voting`` and ``random_state`` only.
    max_bytes, max_predict_seconds
        Representatives delegate until the saved file has at most ``max_bytes``, or a pickle where
        the voters cannot be saved, and ``predict_proba`` takes at most ``max_predict_seconds`` for
        1,000 rows, measured here. See :class:`~skliquid.LiquidEnsembleClassifier`. Not for other
        methods than delegation.

    Returns
    -------
    pruned : PrunedEnsemble or Pipeline
        For a pipeline, one with the same fitted steps before the pruned ensemble. Else
        ``estimators_`` are voters of ``ensemble``, ``estimator_weights_`` the votes they carry. Its
        ``partial_fit`` continues the delegation with more rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_prune, y_train, y_prune = train_test_split(X, y, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    >>> small = prune(forest, X_prune, y_prune, n_final=5, random_state=0)
    >>> len(forest.estimators_), len(small.estimators_), int(small.estimator_weights_.sum())
    (100, 5, 100)
    """
    _check_mechanism(mechanism)
    pruned = PrunedEnsemble(
        n_final=n_final,
        method=method,
        mechanism=mechanism,
        delegation_rate=delegation_rate,
        increment_size=increment_size,
        competence=competence,
        voting=voting,
        max_bytes=max_bytes,
        max_predict_seconds=max_predict_seconds,
        random_state=check_random_state(random_state).randint(2**31 - 1),
    )
    if isinstance(ensemble, Pipeline):
        return _pruned_pipeline(ensemble, pruned, X, y)
    return _pruned(ensemble, pruned, X, y)


def _pruned_pipeline(pipeline: Pipeline, pruned: PrunedEnsemble, X: Any, y: Any) -> Pipeline:
    """Return the pipeline with a pruned ensemble at its end."""
    check_is_fitted(pipeline)
    *before, (name, ensemble) = pipeline.steps
    rows = Pipeline(before).transform(X) if before else X
    return Pipeline([*before, (name, _pruned(ensemble, pruned, rows, y))])


def _pruned(ensemble: Any, pruned: PrunedEnsemble, X: Any, y: Any) -> PrunedEnsemble:
    """Start ``pruned`` with the voters of ``ensemble``."""
    is_pruned = isinstance(ensemble, PrunedEnsemble)
    voters, classes = ensemble.voters() if is_pruned else fitted_voters(ensemble)
    for name, value in known_features(ensemble, voters).items():
        setattr(pruned, name, value)
    pruned.encoder_ = getattr(ensemble, "encoder_", None)
    return pruned._start(voters, classes, X, y)  # noqa: SLF001 (only prune makes one)


def _check_mechanism(mechanism: Any) -> None:
    named = MECHANISMS.get(mechanism) if isinstance(mechanism, str) else mechanism
    ranks_by_slope = isinstance(getattr(named, "returns", None), FastestLearners)
    if ranks_by_slope:
        raise ValueError(
            "mechanism must not rank voters by how fast they learn, since fitted voters do not "
            f"learn: got {mechanism!r}. Choose another, such as 'proportional_weighted'."
        )


def fitted_voters(ensemble: Any) -> tuple[list[FittedVoter], NDArray[Any]]:
    """Return the voters of a fitted ensemble, and all classes."""
    if isinstance(ensemble, list | tuple):
        return _voters_of_list(ensemble)
    if not hasattr(ensemble, "fit") or isinstance(ensemble, type):
        raise TypeError(
            "ensemble must be a fitted ensemble or a list of fitted classifiers: got "
            f"{ensemble!r}. Give a BaggingClassifier, for example."
        )
    if not isinstance(ensemble, _PREDICT_NUMBERS + _PREDICT_LABELS):
        if type(ensemble).__name__ in _BOOSTED:
            raise TypeError(
                "ensemble must have members that vote: the stages of "
                f"{type(ensemble).__name__} add up, and each corrects those before it. Give a list "
                "of several such models, or let training stop early to get fewer stages."
            )
        known = [cls.__name__ for cls in (*_PREDICT_NUMBERS, AdaBoostClassifier)]
        raise TypeError(
            f"ensemble must be a list of classifiers or one of {', '.join(known)} and "
            f"LiquidEnsembleClassifier: got "
            f"{type(ensemble).__name__}, whose members need not vote for classes. If they do, give "
            "a list of fitted classifiers that predict labels as in y."
        )
    check_is_fitted(ensemble)
    classes = _classes_of(ensemble)
    labels = np.arange(len(classes)) if isinstance(ensemble, _PREDICT_NUMBERS) else classes
    members = ensemble.estimators_
    features = getattr(ensemble, "estimators_features_", [None] * len(members))
    sees_numbers = isinstance(ensemble, FittedVotes)
    return [
        FittedVoter(member, labels, seen, sees_numbers)
        for member, seen in zip(members, features, strict=True)
    ], classes


def _voters_of_list(ensemble: Sequence[Any]) -> tuple[list[FittedVoter], NDArray[Any]]:
    members = [pair[-1] if isinstance(pair, tuple) else pair for pair in ensemble]
    if not members:
        raise ValueError("ensemble must hold a voter: got an empty list. Give classifiers.")
    for member in members:
        if not hasattr(member, "fit") or isinstance(member, type) or not is_classifier(member):
            raise TypeError(f"ensemble must hold classifiers only: got {member!r}. Leave it out.")
        check_is_fitted(member)
    labels = list(map(_classes_of, members))
    if len({values.dtype.kind in "OSU" for values in labels}) > 1:
        raise ValueError(
            "ensemble must hold classifiers that predict labels of one type: got some that predict "
            "text and some that predict numbers. Fit them all to the same labels."
        )
    classes = np.unique(np.concatenate(labels))
    return [FittedVoter(member, classes) for member in members], classes


def _classes_of(classifier: Any) -> NDArray[Any]:
    """Return the classes of ``classifier``, unless it has several outputs."""
    classes = getattr(classifier, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ValueError(
            "ensemble must predict classes of one output, and keep them in classes_: got "
            f"{type(classifier).__name__} with {classes!r}. Fit classifiers to a single column y."
        )
    return classes


def known_features(ensemble: Any, voters: Sequence[FittedVoter]) -> dict[str, Any]:
    """Return names and number of the features that the voters were fitted to."""
    fitted = [ensemble, *(voter.estimator for voter in voters)]
    names = ("feature_names_in_", "n_features_in_")
    source = next((item for name in names for item in fitted if hasattr(item, name)), None)
    return {name: getattr(source, name) for name in names if hasattr(source, name)}
