"""LiquidEnsembleClassifier: parameters, fit, partial_fit, prediction."""

from contextlib import closing
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skliquid import parameters, presets
from skliquid.arrays import Voters
from skliquid.budget import Budget
from skliquid.calibration import MANY_CLASSES
from skliquid.callbacks import CallbackSupportMixin, with_callbacks
from skliquid.checks import check_fits_in_memory
from skliquid.class_weights import (
    ClassCounts,
    check_class_weight,
    check_labels_are_known,
    with_class_weights,
)
from skliquid.competence import as_competence
from skliquid.composition import EstimatorComposition, is_wide
from skliquid.discovery import resolve_classes
from skliquid.diversity import Diversity, VoterSpec, as_diversity, row_sample
from skliquid.fitted import Fitted, FittedVotes, evaluation
from skliquid.increments import rounds, slices
from skliquid.mechanisms import as_mechanism
from skliquid.parameters import has_methods, one_of, positive_integer, positive_share
from skliquid.pools import check_accepted, pool_for, pool_names
from skliquid.progress import with_progress
from skliquid.record import INCREMENTS_KEPT
from skliquid.rows import Rows
from skliquid.sizes import Sizes
from skliquid.supervision import Supervision
from skliquid.training import Rules, Training, finish, train
from skliquid.validation import (
    EvalSet,
    check_can_continue,
    check_eval_set,
    check_rows,
    check_take_weights,
    check_two_classes,
    check_X,
    encode,
    warn_if_one_class_wins,
    warn_if_unscaled,
)
from skliquid.voters import TreeVoter

BYTES_OF_A_VOTER = 800
"""What the smallest voter takes, with its share of the record."""


class LiquidEnsembleClassifier(FittedVotes, CallbackSupportMixin, EstimatorComposition):
    """An ensemble that prunes itself while it trains.

    At each increment of data the weakest voters delegate their vote, with all the weight they
    carry, to stronger ones, and stop training. What remains is a small ensemble of weighted
    representatives, which is then refitted from scratch on all rows.

    The default voters are linear classifiers, small forests and short sequences of boosted trees.
    They accept missing values, and features need not be scaled.

    Parameters
    ----------
    estimator : classifier or list of (str, classifier), default=None
        What the voters are clones of, each with its own seed. The classifiers of a list are spread
        evenly over the voters. None means a list of three: ``"linear"``,
        ``SGDClassifier(loss="log_loss", learning_rate="invscaling", power_t=0.25, average=True,
        n_iter_no_change=1)``; ``"forest"``, :class:`~skliquid.voters.RandomizedForestClassifier`;
        and ``"boosted"``, :class:`~skliquid.voters.BoostedTreesClassifier`; with the diversity of
        ``diversity="auto"``. Sparse rows with more than 5,000 columns are left to the linear ones,
        without random Fourier features, and more than 1,000 classes to the forests.
        A classifier without a ``partial_fit`` that works with its parameters is refitted from
        scratch on all rows seen so far at each increment; while there is only one class, a
        ``DummyClassifier`` takes its place. Voters see rows as an array of numbers without column
        names: encode categories before, for example with :func:`~skliquid.tabular_pipeline`.
    n_estimators : int, default=24
        Number of voters at the start.
    n_final : int or "auto", default=5
        Number of representatives at which delegation ends. It need not be reached: data may run
        out, and a voter without a better candidate stays. See ``record_.reached_n_final``.
        ``"auto"``: between 4 and 40, as the data say; below 40 a voter delegates only if it is
        significantly less competent than the group, so that delegation ends by itself.
    mechanism : str, Mechanism or pair of callables, default="proportional_weighted"
        Who delegates, to whom, and how votes are weighted: ``"direct"``, ``"random"``, ``"max"``,
        ``"random_better"``, ``"proportional_better"``, ``"proportional_weighted"``, your own pair
        (g, p), or a :class:`~skliquid.mechanisms.Mechanism` with other ``candidates`` or
        ``vote_weights``. For concept drift, :func:`~skliquid.mechanisms.revocable` lets delegators
        take their vote back, and ``"learning_slopes"`` ranks voters by how fast they learn.
    delegation_rate : float, callable, schedule or "auto", default="auto"
        The share of the representatives that delegate at each increment; at least one does while
        more than ``n_final`` are left. A function from the increment (from 1) to the share, or a
        schedule of :mod:`skliquid.schedules`, varies it. ``"auto"`` is just fast enough to reach
        ``n_final`` with the increments of ``fit``, and 0.05 in ``partial_fit``.
    increment_size : int or "auto", default="auto"
        Number of rows between delegations; the last increment may be shorter. ``"auto"``: one
        increment per call of ``partial_fit``. In ``fit``, if some voters are forests or boosted
        trees of :mod:`skliquid.voters`, as by default, three increments with a quarter, a quarter
        and half of the rows, the first of at most 2,000, so that delegation ends after 8,000 rows
        (with more than 500 classes, of at most four rows per class);
        without a final fit more follow, each as long as all before it. For other voters 50
        increments of equal size, or fewer with 25 rows each.
    competence : {"contribution", "prequential", "training"} or Competence, default="contribution"
        How voters are evaluated. ``"contribution"``: by what each adds to the group's answer, on
        each increment before training on it. ``"prequential"``: by their own accuracy there. With
        both, the weakest delegate next, and only the voters that are left train on the increment;
        there are no delegations at the first, and the last is not trained on if a final fit
        follows. ``"training"``: by their own accuracy on the increment just trained on, as in the
        paper: all train, and then the weakest delegate. A :class:`~skliquid.Competence` also says
        over which increments competence is averaged. Rows count by their weights. With more than
        256 classes some rows of each increment are asked about: two million probabilities per
        voter at most.
    voting : {"soft", "hard"}, default="soft"
        What a vote is. ``"soft"``: class probabilities. ``predict_proba`` is their mean, weighted
        by the votes that representatives carry, and calibrated by ``temperature_``. A voter
        without ``predict_proba`` gives its ``decision_function`` through a logistic function, or
        without both its prediction. ``"hard"``: a class, as in the paper.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, in training, competence and the final fit alike; they multiply
        ``sample_weight``. ``"balanced"``: all classes count the same. A row of class c has the
        weight :math:`n / (C n_c)`, by the rows of ``fit``, or in ``partial_fit`` by all rows so
        far.
    final_fit : bool, default=True
        Whether ``fit`` ends by refitting the representatives from scratch on all rows. If not, they
        train on the increments that are left when delegation has ended.
    bootstrap : bool, default=False
        Whether each voter learns from its own bootstrap sample of the rows: how often it sees a row
        follows a Poisson distribution, which needs only one pass over the data.
    max_samples : int or float, default=1.0
        How many rows each voter learns from: a share, or for ``fit`` a number of rows. Without
        ``bootstrap``, below 1.0 each voter leaves rows out at random.
    max_features : int or float, default=1.0
        How many features each voter sees, as a number or a share, drawn at random without
        replacement. A number above that of the features means all. Voters with a feature map see
        all of its output.
    diversity : Diversity, "auto" or None, default="auto"
        Hyperparameters that each voter draws and feature maps through which voters see the rows;
        see :class:`~skliquid.Diversity`. ``"auto"``: if ``estimator`` is None, hyperparameters for
        each of the three kinds, and for linear voters signed logarithms of standardized features
        and random Fourier features of these; else nothing, like None.
    max_cost : int, default=None
        The most sample visits that ``fit`` may take, the final fit included: at least one pass of
        all voters over the first increment. ``fit`` ends with the best ensemble so far, and
        ``record_.stopped`` says what was cut short. Voters that are refitted at each increment are
        limited to the passes within the budget, if they have ``max_iter``; forests and boosted
        trees of :mod:`skliquid.voters` grow fewer trees. Not for ``partial_fit``.
    max_seconds : float, default=None
        The same in seconds, as far as can be predicted from the time taken so far.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C, or the stop button of a notebook, does during ``fit``. ``"raise"``: it raises
        ``KeyboardInterrupt``, as in scikit-learn, and the ensemble stays as it was. ``"keep"``:
        ``fit`` ends after the current increment, or leaves out the final fit, with the ensemble
        learned so far; ``record_.stopped`` says where. A second Ctrl-C raises.
    pool : {"auto", "linear", "trees", "estimator"} or DaskPool, default="auto"
        How voters are held. ``"linear"``: ``SGDClassifier`` and ``Perceptron`` voters in one array,
        trained by compiled code with the same bits, many times faster. ``"trees"``: forests and
        boosted trees of :mod:`skliquid.voters`, grown together on shared bins. ``"estimator"``: one
        object each. ``"auto"``: for each voter the fastest pool that supports it.
        ``DaskPool(client)``: in shards on the workers of a Dask cluster. The bits are the same.
    n_jobs : int, default=None
        Number of threads for training and prediction, as joblib counts them. Results do not depend
        on it. Threads pay where one voter's training takes long, as with trees.
    verbose : int, default=0
        Whether training shows its progress: as a bar in terminals and notebooks where rich is
        installed, else as a line every two seconds. From version 1.9 on, scikit-learn's callbacks
        can be set instead: ``ensemble.set_callbacks(sklearn.callback.ProgressBar())``.
    random_state : int, RandomState instance or None, default=None
        Seeds the voters, the order of the rows in ``fit``, and the choices of delegators.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X had names that are all strings.
    n_samples_seen_ : int
        Number of rows given to ``fit``, or to ``partial_fit`` so far.
    estimators_ : list of classifiers
        The representatives, fitted.
    estimators_features_ : list of ndarray of int
        The features that each of ``estimators_`` sees.
    estimator_weights_ : ndarray of int
        Votes that each of ``estimators_`` carries. They sum to ``n_estimators``.
    vote_weights_ : ndarray
        How much each of ``estimators_`` counts: ``estimator_weights_``, unless the mechanism has
        other ``vote_weights``.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature counts for the representatives, in all one, if each of them has
        importances: coefficients, or splits of trees.
    delegation_graph_ : DelegationGraph
        All delegations.
    record_ : TrainingRecord
        What happened at each increment; ``record_.to_pandas()`` returns it as a table.
    temperature_ : float
        Temperature of ``predict_proba`` with soft votes: the one with the least log-loss on the
        group's answers before training, of which recent ones count more. It is 1, and nothing is
        calibrated, with ``competence="training"`` and on fewer than 50 rows. After a final fit of
        forests or boosted trees it is never below 1, except with more than 256 classes: with more
        trees and rows they become more certain by themselves.
    training_cost_ : TrainingCost
        Sample visits of the ``increments`` and of the ``final_fit``, and their ``total``. A visit
        is a step of a linear voter, or a tree grown on one row.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> bool(ensemble.score(X, y) > 0.95)
    True
    >>> len(ensemble.estimators_), int(ensemble.estimator_weights_.sum())
    (5, 24)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = parameters.OF_DELEGATION | {
        "estimator": [has_methods("fit"), list, None],
        "n_estimators": [positive_integer],
        "class_weight": [one_of(["balanced"]), dict, None],
        "final_fit": ["boolean"],
        "bootstrap": ["boolean"],
        "max_samples": [positive_integer, positive_share],
        "max_features": [positive_integer, positive_share],
        "diversity": [one_of(["auto"]), Diversity, None],
        "max_cost": [positive_integer, None],
        "max_seconds": [parameters.positive_real, None],
        "on_interrupt": [one_of(["raise", "keep"])],
        "pool": [one_of(pool_names()), has_methods("pool_for")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 24,
        n_final: Any = 5,
        mechanism: Any = "proportional_weighted",
        delegation_rate: Any = "auto",
        increment_size: Any = "auto",
        competence: Any = "contribution",
        voting: str = "soft",
        class_weight: Any = None,
        final_fit: bool = True,
        bootstrap: bool = False,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        diversity: Any = "auto",
        max_cost: int | None = None,
        max_seconds: float | None = None,
        on_interrupt: str = "raise",
        pool: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_final = n_final
        self.mechanism = mechanism
        self.delegation_rate = delegation_rate
        self.increment_size = increment_size
        self.competence = competence
        self.voting = voting
        self.class_weight = class_weight
        self.final_fit = final_fit
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_features = max_features
        self.diversity = diversity
        self.max_cost = max_cost
        self.max_seconds = max_seconds
        self.on_interrupt = on_interrupt
        self.pool = pool
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def as_in_the_paper(cls, **changes: Any) -> Self:
        """Return the ensemble with the paper's settings; see :mod:`skliquid.presets`."""
        return cls(**presets.as_in_the_paper() | changes)

    @classmethod
    def for_streams(cls, **changes: Any) -> Self:
        """Return an ensemble for streams with concept drift; see :mod:`skliquid.presets`."""
        return cls(**presets.for_streams() | changes)

    # Training

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Self:
        """Train on all rows: by increments, in random order, and then in full.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in training and in competence. Rows of weight zero are left out.
        eval_set : tuple (X, y), default=None
            Rows on which the ensemble's accuracy is recorded after each increment.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The fitted ensemble.
        """
        self.check_parameters()
        given = check_rows(self, X, y, sample_weight, self._estimators(), reset=True)
        check_labels_are_known(self.class_weight, np.unique(given.y))
        rows = with_class_weights(given, self.class_weight)
        check_two_classes(rows.y)
        classes, labels = np.unique(rows.y, return_inverse=True)
        rows, eval_set = rows._replace(y=labels), check_eval_set(self, eval_set, classes)

        budget = Budget(self.max_cost, self.max_seconds)
        has_trees = self._has_trees(rows.X, len(classes))
        cuts = self._cuts(rows.n_rows, len(classes), has_trees=has_trees)
        rules = self._rules(len(cuts), len(classes), has_trees=has_trees)
        training, spec = self._start(classes, rows.X, rules, rows.n_rows)
        budget.know(spec)
        order = training.rng.permutation(rows.n_rows)
        counts = ClassCounts().plus(given.without_zero_weights().y)

        def state(training: Training) -> Fitted:
            return Fitted(classes, given.n_rows, rows.X.dtype, training, spec, counts=counts)

        supervision = Supervision(
            self, given, training, state, budget=budget, n_increments=len(cuts)
        )
        with supervision.increments(rows.at(order[cut]) for cut in cuts) as increments:
            train(training, rules, increments, evaluation(training, eval_set, rules))
        if self.final_fit:
            supervision.finish(rows)
        supervision.end()
        self._fitted = state(training).without_delegators(rules, training_is_over=True)
        warn_if_one_class_wins(training.group, classes)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
    ) -> Self:
        """Train on more rows, in their order; delegation continues from call to call.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows: one increment, or several when ``increment_size`` is a number. Each decides
            about delegations, so pass a few dozen rows at once rather than one.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All labels that may occur, announced at the first call. Without it, classes are
            discovered: training starts when there are two, and when another one comes later, the
            voters start from scratch on rows kept for that purpose, at most 2,000, balanced over
            the classes. Delegations stay.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in training and in competence. Rows of weight zero are left out.
        eval_set : tuple (X, y), default=None
            Rows on which the ensemble's accuracy is recorded after each increment.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble.
        """
        self.check_parameters()
        parameters.check_no_budget(self.max_cost, self.max_seconds)
        before = self._fitted
        if before.classes is None:
            parameters.check_is_share(self.max_samples)
        given = self._check_rows(X, y, sample_weight)
        rows, all_classes, discovery = resolve_classes(
            given.without_zero_weights(), classes, before.classes, before.discovery
        )
        if discovery is None:
            check_labels_are_known(self.class_weight, all_classes)
        eval_set = check_eval_set(self, eval_set, all_classes)
        encode(rows.y, all_classes)  # raises if a label is not known
        fitted, counts = before, before.counts.plus(given.without_zero_weights().y)
        if len(all_classes) > 1:
            rows = with_class_weights(rows, self.class_weight, counts)
            rows = rows._replace(y=encode(rows.y, all_classes))
            fitted = self._train_more(before, rows, all_classes, eval_set)
        n_seen = before.n_samples_seen + given.n_rows
        self._fitted = replace(fitted, n_samples_seen=n_seen, discovery=discovery, counts=counts)
        return self

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Refit the representatives from scratch on all given rows, as ``fit`` does at its end.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of classes that are known.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in training. Rows of weight zero are left out.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble. Delegations, weights and ``temperature_`` stay; ``training_cost_`` grows.
        """
        training = self._ready()
        self.check_parameters()
        rows = with_class_weights(self._check_rows(X, y, sample_weight), self.class_weight)
        check_two_classes(rows.y)
        finish(training, rows._replace(y=encode(rows.y, self.classes_)))
        return self

    def _train_more(
        self, before: Fitted, rows: Rows, classes: NDArray[Any], eval_set: EvalSet | None
    ) -> Fitted:
        """Return what training on ``rows`` leaves, from the start or from where it was."""
        rules, training, spec = self._rules(None, len(classes)), before.training, before.spec
        if training is None and rows.n_rows == 0:
            return replace(before, classes=classes, dtype=rows.X.dtype)
        if training is None or spec is None:
            training, spec = self._start(classes, rows.X, rules)
        check_can_continue(training, rules, self.n_estimators, before.kept)
        scored = rules.mechanism.scored(training.graph)
        if before.classes is not None and len(classes) > len(before.classes):
            training = self._with_new_classes(before, training, scored, classes)
        size = max(rows.n_rows, 1) if self.increment_size == "auto" else self.increment_size
        cuts = slices(rows.n_rows, size)
        training.pool.set_n_jobs(self.n_jobs)
        training.record.most = INCREMENTS_KEPT
        increments = (rows.at(cut) for cut in cuts)
        if self.verbose:
            n_increments = training.record.n_increments + len(cuts)
            increments = with_progress(training, increments, n_increments)
        with closing(increments):
            train(training, rules, increments, evaluation(training, eval_set, rules))
        fitted = Fitted(classes, 0, rows.X.dtype, training, spec)
        return fitted.without_delegators(rules, training_is_over=False)

    def _with_new_classes(
        self, before: Fitted, training: Training, voters: Voters, classes: NDArray[Any]
    ) -> Training:
        """Return a copy of ``training`` with voters that know ``classes``; the original stays."""
        spec: Any = before.spec
        kept: Any = before.discovery and before.discovery.rows
        pool = pool_for(self.pool, spec, classes, self.n_jobs)
        kept = with_class_weights(kept, self.class_weight)
        visits = pool.train(voters, kept._replace(y=encode(kept.y, classes)))
        return training.with_pool(pool, visits)

    def _start(
        self, classes: NDArray[Any], X: Any, rules: Rules, n_rows: int | None = None
    ) -> tuple[Training, VoterSpec]:
        """Return the training before the first increment, and what its voters are made from."""
        entropy = check_random_state(self.random_state).randint(2**31 - 1)
        voters, choices, drawn = np.random.SeedSequence(int(entropy)).spawn(3)
        diversity, named = as_diversity(self.diversity), self._estimators_for(X, len(classes))
        spec = VoterSpec.draw(
            [estimator for _, estimator in named],
            voters.generate_state(int(self.n_estimators)).tolist(),
            X,
            names=[name for name, _ in named],
            diversity=diversity.resolved(
                has_default_estimator=self.estimator is None,
                is_wide=is_wide(X),
                n_rows=n_rows,
                n_columns=X.shape[1],
                n_classes=len(classes),
                names=[name for name, _ in named],
            ),
            max_features=self.max_features,
            sample=row_sample(self.max_samples, self.bootstrap, X.shape[0]),
            rng=np.random.default_rng(drawn),
        )
        warn_if_unscaled(X, spec)
        pool = pool_for(self.pool, spec, classes, self.n_jobs)
        rng = np.random.default_rng(choices)
        training = Training.start(pool, len(spec.seeds), rules, rng)
        training.record.voters = spec.descriptions()
        return training, spec

    def _has_trees(self, X: Any, n_classes: int) -> bool:
        return any(isinstance(voter, TreeVoter) for _, voter in self._estimators_for(X, n_classes))

    def _cuts(self, n_rows: int, n_classes: int, *, has_trees: bool) -> list[slice]:
        """Return the increments of ``fit``."""
        if self.increment_size == "auto" and has_trees:
            return rounds(n_rows, all_rows=not self.final_fit, n_classes=n_classes)
        return slices(n_rows, self.increment_size)

    def _rules(self, n_increments: int | None, n_classes: int, *, has_trees: bool = False) -> Rules:
        return Rules(
            mechanism=as_mechanism(self.mechanism),
            sizes=Sizes.of(
                self.n_final,
                self.delegation_rate,
                n_voters=self.n_estimators,
                n_increments=n_increments,
            ),
            competence=as_competence(self.competence),
            voting=self._voting,
            n_classes=n_classes,
            last_increment=n_increments if self.final_fit else None,
            sharpens=n_classes > MANY_CLASSES or not (self.final_fit and has_trees),
        )

    def _check_X(self, X: Any, *_methods: str) -> Any:
        return check_X(self, X)

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return more rows, in the precision in which the voters started."""
        n_seen, dtype = self._fitted.n_samples_seen, self._fitted.dtype
        rows = check_rows(
            self, X, y, sample_weight, self._estimators(), n_seen=n_seen, reset=n_seen == 0
        )
        return rows if dtype is None else rows._replace(X=rows.X.astype(dtype, copy=False))

    def check_parameters(self) -> None:
        """Raise an error unless all parameters are valid, alone and together."""
        self._validate_params()
        parameters.check_delegation(self.n_final, self.n_estimators, self.delegation_rate)
        check_fits_in_memory("n_estimators", self.n_estimators, bytes_each=BYTES_OF_A_VOTER)
        parameters.check_n_jobs(self.n_jobs)
        parameters.check_estimators(
            self._named_estimators(),
            n_estimators=self.n_estimators,
            taken=self._parameter_constraints if isinstance(self.estimator, list) else (),
        )
        parameters.check_diversity(
            self.diversity, names=[name for name, _ in self._named_estimators()]
        )
        check_accepted(self.pool, self._estimators())
        check_class_weight(self.class_weight)
        if self.class_weight is not None:
            check_take_weights(self._estimators(), parameter="class_weight")

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The features that each of ``estimators_`` sees."""
        voters = self._trained("estimators_features_").graph.representatives.tolist()
        features, spec = np.arange(self.n_features_in_), self._fitted.spec
        return [features[seen] for seen in spec.features_of(voters)] if spec else []
