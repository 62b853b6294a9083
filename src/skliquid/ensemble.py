"""LiquidEnsembleClassifier: parameters, fit, partial_fit and predictions."""

from contextlib import closing
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from skliquid import presets
from skliquid.delegation.arrays import Labels, Voters
from skliquid.delegation.calibration import MANY_CLASSES
from skliquid.delegation.class_weights import ClassCounts, class_factors, with_class_weights
from skliquid.delegation.competence import as_measure
from skliquid.delegation.drawn_rows import DrawnRows, draw_row_numbers
from skliquid.delegation.increments import slices
from skliquid.delegation.record import INCREMENTS_KEPT
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import storable
from skliquid.diversity import (
    Diversity,
    NamedEstimators,
    VoterSpec,
    as_diversity,
    is_auto,
    row_sample,
)
from skliquid.fitted.ensemble_limits import Limits, check_limits
from skliquid.fitted.fitted_votes import (
    DELEGATION_PARAMETERS,
    Fitted,
    FittedVotes,
    check_can_continue,
    resolve_classes,
    scorer,
)
from skliquid.fitted.reduced import rows_to_time
from skliquid.fitted.stored_ensemble import StoredEnsemble
from skliquid.mechanisms import Sizes, as_mechanism
from skliquid.pools import check_pool_supports, pool_for, pool_names
from skliquid.supervision import (
    Budget,
    CallbackSupportMixin,
    Report,
    Supervision,
    with_callbacks,
    with_progress,
)
from skliquid.tables.frames import (
    as_frame,
    needs_encoder,
    table_shape,
    take_rows,
    with_columns,
)
from skliquid.tables.table_encoder import TableEncoder
from skliquid.tables.text_values import warn_of_similar_classes
from skliquid.training import Growth, Rules, Training, choose_growers, finish, grow, train
from skliquid.validation import parameters
from skliquid.validation.input import (
    check_eval_set,
    check_labels,
    check_sample_weight,
    check_take_weights,
    check_two_classes,
    check_X,
    check_X_y,
    encode,
    warn_if_one_class_wins,
    warn_if_unscaled,
)
from skliquid.validation.limits import (
    BYTES_PER_VOTER,
    check_fits_in_memory,
    check_weight_range,
    warn_if_many_voters,
)
from skliquid.validation.parameters import has_methods, one_of, positive_integer, positive_share
from skliquid.voters import CodedCategories, TreeVoter


@storable
class LiquidEnsembleClassifier(FittedVotes, CallbackSupportMixin, NamedEstimators):
    """An ensemble that prunes itself while it trains.

    At each increment of data the weakest voters delegate their vote, with all the weight they
    carry, to stronger ones, and stop training. What remains is a small ensemble of weighted
    representatives, which is then refitted from scratch on all rows. From 10,000 rows on, boosted
    trees grow as long as that improves the group on rows that no voter trains on.

    The default voters are linear classifiers, small forests and short sequences of boosted trees.
    They accept missing values, and features need not be scaled.

    Parameters
    ----------
    estimator : classifier or list of (str, classifier), default=None
        The classifier that voters are clones of, each with its own seed. The classifiers of a list
        are spread evenly over the voters. None means a list of three: ``"linear"``,
        ``SGDClassifier(loss="log_loss", learning_rate="invscaling", power_t=0.25, average=True,
        n_iter_no_change=1)``; ``"forest"``, :class:`~skliquid.voters.RandomizedForestClassifier`;
        and ``"boosted"``, :class:`~skliquid.voters.BoostedTreesClassifier`; with the diversity of
        ``diversity="auto"``. Only the linear ones see sparse rows with more than 5,000 columns,
        without random Fourier features. Only forests are used with more than 1,000 classes.
        A classifier without a ``partial_fit`` that works with its parameters is refitted from
        scratch on all rows seen so far at each increment; while there is only one class, a
        ``DummyClassifier`` takes its place. Voters see rows as an array of numbers without column
        names. Of data frames with categories, dates or texts, forests and boosted trees of
        :mod:`skliquid.voters` see categories as codes, and other voters one-hot columns and scaled
        numbers.
    n_estimators : int, default=24
        Number of voters at the start.
    n_final : int or "auto", default=5
        Number of representatives at which delegation ends. It need not be reached: data may run
        out, and a voter without a better candidate stays. See ``record_.reached_n_final``. Fewer
        remain where voters grow and others no longer contribute.
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
        schedule of :mod:`skliquid.mechanisms`, varies it. ``"auto"`` is just fast enough to reach
        ``n_final`` with the increments of ``fit``, and 0.05 in ``partial_fit``. It does not apply
        to voters that grow.
    increment_size : int or "auto", default="auto"
        Number of rows between delegations; the last increment may be shorter. ``"auto"``: one
        increment per call of ``partial_fit``. In ``fit``, if some voters are forests or boosted
        trees of :mod:`skliquid.voters`, as by default, three increments with a quarter, a quarter
        and half of the rows, the first of at most 2,000, so that delegation ends after 8,000 rows
        (with more than 500 classes, of at most four rows per class);
        without a final fit more follow, each as long as all before it. For other voters 50
        increments of equal size, or fewer with 25 rows each.
    competence : {"contribution", "prequential", "training"} or CompetenceMeasure, \
            default="contribution"
        How voters are measured. ``"contribution"``: by what each adds to the group's answer, on
        each increment before training on it. ``"prequential"``: by their own accuracy there. With
        both, the weakest delegate next, and only the voters that are left train on the increment;
        there are no delegations at the first, and the last is not trained on if a final fit
        follows. ``"training"``: by their own accuracy on the increment just trained on, as in the
        paper: all train, and then the weakest delegate. With a :class:`~skliquid.CompetenceMeasure`
        you also choose the increments that competence is averaged over. Rows count by their
        weights. With more than 256 classes voters are measured on a sample of each increment: at
        most two million probabilities per voter.
    voting : {"soft", "hard"}, default="soft"
        What a vote is. ``"soft"``: class probabilities. ``predict_proba`` is their mean, weighted
        by the mechanism's ``vote_weights``, and calibrated by ``temperature_``. A voter
        without ``predict_proba`` gives its ``decision_function`` through a logistic function, or
        without both its prediction. ``"hard"``: a class, as in the paper.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, in training, competence and the final fit alike; they multiply
        ``sample_weight``. ``"balanced"``: all classes count the same. A row of class c has the
        weight :math:`n / (C n_c)`, by the rows of ``fit``, or in ``partial_fit`` by all rows so
        far.
    final_fit : bool, default=True
        Whether ``fit`` ends by refitting the representatives from scratch on all rows. If not, they
        train on the increments that are left when delegation has ended. Before a final fit on
        10,000 rows or more, the default boosted trees may grow: first one voter, then two train on,
        with up to 20 times the trees of a final fit, while the log-loss on a tenth of the rows (at
        most 20,000) improves beyond noise. The weakest delegate meanwhile, and the final fit adds
        trees grown on all rows. This needs soft votes, ``max_samples=1.0`` without ``bootstrap``,
        competence measured before training, final delegations, and increments that leave the
        held-out rows out.
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
    max_rows : int, "auto" or None, default="auto"
        The most rows that ``fit`` uses. Of more rows it draws a random sample of that size, and
        learns everything from it, except the classes and their numbers of rows. ``"auto"``:
        1,020,000 rows if ``estimator`` is None, or fewer if there are more than 131 columns (2**27
        cells), since the default voters use no more; all rows for other estimators. None means all
        rows.
    diversity : Diversity, "auto" or None, default="auto"
        Hyperparameters that each voter draws and feature maps through which voters see the rows;
        see :class:`~skliquid.Diversity`. ``"auto"``: if ``estimator`` is None, hyperparameters for
        each of the three estimators, and for linear voters signed logarithms of standardized
        features and random Fourier features of these; else nothing, like None.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories, by name, by position or by one boolean each.
        ``"from_dtype"``: of data frames those with categorical types, booleans, and text that is
        neither numbers, dates nor long. See :class:`~skliquid.TableEncoder` for the encoding of all
        columns.
    max_cost : int, default=None
        The most sample visits that ``fit`` may take, the final fit included: at least one pass of
        all voters over the first increment. ``fit`` ends with the best ensemble so far, and
        ``record_.stopped`` says what was cut short. Voters that are refitted at each increment are
        limited to the passes within the budget, if they have ``max_iter``; forests and boosted
        trees of :mod:`skliquid.voters` grow fewer trees. Not for ``partial_fit``.
    max_seconds : float, default=None
        The same in seconds, predicted from the time taken so far.
    max_bytes : int, default=None
        The most bytes of the file that :func:`~skliquid.save` writes of the fitted ensemble, or of
        a pickle where the voters cannot be saved. Voters grow less, and representatives delegate
        after the final fit, until it holds: first those that exceed it alone, then the weakest, and
        of voters that are as competent within chance the one that needs the most. One
        representative may be left, and ``record_.stopped`` says how many were. If none is small
        enough, an error says how many bytes the smallest possible ensemble needs. It is kept by
        ``fit`` and ``refit``; not for ``partial_fit``.
    max_predict_seconds : float, default=None
        The same in seconds that ``predict_proba`` takes for 1,000 rows, measured on this machine
        with these voters and ``n_jobs``: the fastest of at least five calls in 50 ms. Since it is
        measured, the same seed may give another ensemble where it binds.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C, or the stop button of a notebook, does during ``fit``. ``"raise"``: it raises
        ``KeyboardInterrupt``, as in scikit-learn, and the ensemble stays as it was. ``"keep"``:
        ``fit`` ends after the current increment, or leaves out the final fit, with the ensemble
        learned so far; ``record_.stopped`` says where. A second Ctrl-C raises.
    pool : {"auto", "linear", "trees", "estimator"}, default="auto"
        How voters are held. ``"linear"``: ``SGDClassifier`` and ``Perceptron`` voters in one array,
        trained by compiled code with the same bits, many times faster. ``"trees"``: forests and
        boosted trees of :mod:`skliquid.voters`, grown together on shared bins. ``"estimator"``: one
        object each. ``"auto"``: for each voter the fastest pool that supports it. The bits are the
        same.
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
    encoder_ : TableEncoder or None
        The encoder of data frames with categories, dates or texts; None for numbers.
    n_samples_seen_ : int
        Number of rows given to ``fit``, or to ``partial_fit`` so far.
    estimators_ : list of classifiers
        The representatives, fitted.
    estimators_features_ : list of ndarray of int
        The features that each of ``estimators_`` sees.
    estimator_weights_ : ndarray of int
        Votes that each of ``estimators_`` carries. They sum to ``n_estimators``.
    vote_weights_ : ndarray
        How much each of ``estimators_`` counts, by the mechanism's ``vote_weights``: with soft
        votes one each, with hard votes ``estimator_weights_``.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature, or column of a data frame, counts for the representatives, in all
        one, if each of them has importances: coefficients, or splits of trees.
    delegation_graph_ : DelegationGraph
        All delegations.
    record_ : TrainingRecord
        What happened at each increment; ``record_.to_pandas()`` returns it as a table.
    temperature_ : float
        Temperature of ``predict_proba`` with soft votes: the one with the least log-loss on the
        group's answers before training, where recent ones count more. It is 1, and nothing is
        calibrated, with ``competence="training"`` and on fewer than 50 rows. After a final fit of
        forests or boosted trees it is never below 1, except with more than 256 classes: with more
        trees and rows they become more certain by themselves. Where voters grow, it is fitted on
        the rows that they were measured on.
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

    default_estimators = presets.ESTIMATORS
    default_maps = presets.FEATURE_MAPS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = DELEGATION_PARAMETERS | {
        "estimator": [has_methods("fit"), list, None],
        "n_estimators": [positive_integer],
        "class_weight": [one_of(["balanced"]), dict, None],
        "final_fit": ["boolean"],
        "bootstrap": ["boolean"],
        "max_samples": [positive_integer, positive_share],
        "max_features": [positive_integer, positive_share],
        "max_rows": [positive_integer, one_of(["auto"]), None],
        "diversity": [one_of(["auto"]), Diversity, None],
        "categorical_features": [one_of(["from_dtype"]), "array-like", None],
        "max_cost": [positive_integer, None],
        "max_seconds": [parameters.positive_real, None],
        "on_interrupt": [one_of(["raise", "keep"])],
        "pool": [one_of(pool_names()), has_methods("pool_for")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    stored_as = StoredEnsemble

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
        max_rows: Any = "auto",
        diversity: Any = "auto",
        categorical_features: Any = "from_dtype",
        max_cost: int | None = None,
        max_seconds: float | None = None,
        max_bytes: int | None = None,
        max_predict_seconds: float | None = None,
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
        self.max_rows = max_rows
        self.diversity = diversity
        self.categorical_features = categorical_features
        self.max_cost = max_cost
        self.max_seconds = max_seconds
        self.max_bytes = max_bytes
        self.max_predict_seconds = max_predict_seconds
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Self:
        """Train on all rows: by increments, in random order, and then in full.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in training and in competence. Rows of weight zero are left out.
        eval_set : tuple (X, y) or list with one such tuple, default=None
            Rows on which the ensemble's accuracy is recorded: after each increment as
            ``record_[k].eval_accuracy``, and after the final fit as
            ``record_.final_eval_accuracy``.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The fitted ensemble.
        """
        self.check_parameters()
        drawn = self.encode_drawn(self._draw_rows(X, y, sample_weight))
        return self.fit_drawn(drawn, eval_set=eval_set)

    def encode_drawn(self, drawn: DrawnRows) -> DrawnRows:
        """Return rows that were drawn, validated and encoded; an encoder learns from them.

        Parameters
        ----------
        drawn : DrawnRows
            The rows, such as a data frame.

        Returns
        -------
        drawn : DrawnRows
            The rows as numbers, for ``fit_drawn``.
        """
        self._forget_tags()
        to_time = self._rows_to_time(drawn.X)
        X, y, weights, _ = self._check_rows(drawn.X, drawn.y, drawn.sample_weight, n_seen=0)
        return drawn._replace(X=X, y=y, sample_weight=weights, to_time=to_time)

    @with_callbacks
    def fit_drawn(
        self,
        drawn: DrawnRows,
        *,
        eval_set: Any = None,
        core: Any = None,
        report: Report | None = None,
    ) -> Self:
        """Fit to rows that were drawn from data elsewhere, and encoded by ``encode_drawn``.

        Parameters
        ----------
        drawn : DrawnRows
            The rows, and counts of all rows.
        eval_set : tuple (X, y), default=None
            As in ``fit``.
        core : object, default=None
            Grows trees in place of :mod:`skliquid.native`, by functions of the same names.
        report : callable, default=None
            Called with the training, its stage ("choosing" or "growing") and the share of the stage
            that is done, after each increment.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The fitted ensemble.
        """
        numbers = range(drawn.n_rows) if drawn.numbers is None else drawn.numbers
        given = Rows(drawn.X, drawn.y, drawn.sample_weight, numbers)
        counts = drawn.counts or ClassCounts().plus(given.without_zero_weights().y)
        known: Any = np.unique(given.y) if drawn.counts is None else counts.labels
        parameters.check_labels_are_known(self.class_weight, known)
        rows = self._with_class_weights(given, counts)
        classes = self._counted_classes(counts)
        check_two_classes(rows.y, n_classes=len(classes))
        warn_of_similar_classes(classes.tolist())
        rows = rows._replace(y=np.searchsorted(classes, rows.y))
        eval_set = check_eval_set(self._check_X_y, eval_set, classes)

        budget = Budget(self.max_cost, self.max_seconds)
        limits = Limits(self, drawn.to_time)
        has_trees = self._has_trees(rows.X, len(classes))
        cuts = self._cuts(rows.n_rows, len(classes), has_trees=has_trees)
        rules = self._rules(len(cuts), len(classes), has_trees=has_trees)
        training, spec = self._start(classes, rows.X, rules, rows.n_rows)
        budget.plan_for(spec)
        order = training.rng.permutation(rows.n_rows)
        if core is not None:
            training.pool.set_core(core)

        def state(training: Training) -> Fitted:
            return Fitted(classes, drawn.n_rows, rows.X.dtype, training, spec, counts=counts)

        score = scorer(training, eval_set, rules)
        supervision = Supervision(
            self,
            given,
            training,
            state,
            budget=budget,
            n_increments=len(cuts),
            n_sizes=len(presets.GROWTH_SIZES),
            report=report,
        )
        with supervision.increments(rows.at(order[cut]) for cut in cuts) as increments:
            train(training, rules, increments, score)
        growth = self._growth(training, rules, rows, order, cuts[-1].stop)
        if growth is not None:
            allowed = presets.growth_sizes(growth.rows.n_rows)
            with supervision.sizes(allowed, growth.all_rows.n_rows) as sizes:
                small = limits.sizes(state(training), sizes, choose_growers(training))
                grow(training, rules, growth, small, score)
        if self.final_fit:
            supervision.finish(rows, score)
        training.pool.set_core(None)
        if limits.keep(state(training)) and self.final_fit and score:
            training.record.final_eval_accuracy = score()
        supervision.end()
        self._fitted = state(training).without_delegators(rules, training_is_over=True)
        if training.group is not None:
            counts_of = training.group.n_predicted, training.group.n_actual
            warn_if_one_class_wins(*counts_of, classes)
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
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
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
        eval_set : tuple (X, y) or list with one such tuple, default=None
            Rows on which the ensemble's accuracy is recorded after each increment.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble.
        """
        self.check_parameters()
        parameters.check_no_budget(self)
        before = self._fitted
        if before.classes is None:
            self._forget_tags()
            parameters.check_is_share(self.max_samples)
        given = self._check_more_rows(X, y, sample_weight, classes=classes)
        rows, all_classes, new_classes = resolve_classes(
            given.without_zero_weights(), classes, before.classes, before.new_classes
        )
        if new_classes is None:
            parameters.check_labels_are_known(self.class_weight, all_classes)
        eval_set = check_eval_set(self._check_X_y, eval_set, all_classes)
        encode(rows.y, all_classes)  # raises if a label is not known
        fitted, counts = before, before.counts.plus(given.without_zero_weights().y)
        if len(all_classes) > 1:
            rows = self._with_class_weights(rows, counts)
            rows = rows._replace(y=encode(rows.y, all_classes))
            fitted = self._train_more(before, rows, all_classes, eval_set)
        n_seen = before.n_samples_seen + given.n_rows
        self._fitted = replace(
            fitted, n_samples_seen=n_seen, new_classes=new_classes, counts=counts
        )
        return self

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Refit the representatives from scratch on all given rows, as ``fit`` does at its end.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of classes that are known.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in training. Rows of weight zero are left out.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble. Delegations, weights and ``temperature_`` stay, unless more delegate by
            ``max_bytes`` or ``max_predict_seconds``; ``training_cost_`` grows.
        """
        training = self._ready()
        self.check_parameters()
        rows = self._check_more_rows(X, y, sample_weight, learns=False)
        rows = self._with_class_weights(rows)
        check_two_classes(rows.y)
        finish(training, rows._replace(y=encode(rows.y, self.classes_)))
        limits, rules = Limits(self, self._rows_to_time(X)), self._rules(None, len(self.classes_))
        if not limits.is_unlimited:
            limits.keep(self._fitted)
            self._fitted = self._fitted.without_delegators(rules, training_is_over=True)
        return self

    def _train_more(
        self,
        before: Fitted,
        rows: Rows,
        classes: NDArray[Any],
        eval_set: tuple[Any, Labels] | None,
    ) -> Fitted:
        """Train on ``rows``, from the start or from the state ``before``; return the new state."""
        rules, training, spec = self._rules(None, len(classes)), before.training, before.spec
        if training is None and rows.n_rows == 0:
            return replace(before, classes=classes, dtype=rows.X.dtype)
        if training is None or spec is None:
            training, spec = self._start(classes, rows.X, rules)
        check_can_continue(training, rules, self.n_estimators, before.kept)
        measured = rules.mechanism.measured_voters(training.graph)
        if before.classes is not None and len(classes) > len(before.classes):
            training = self._with_new_classes(before, training, measured, classes)
        size = max(rows.n_rows, 1) if self.increment_size == "auto" else self.increment_size
        cuts = slices(rows.n_rows, size)
        training.pool.set_n_jobs(self.n_jobs)
        training.record.max_increments = INCREMENTS_KEPT
        increments = (rows.at(cut) for cut in cuts)
        if self.verbose:
            n_increments = training.record.n_increments + len(cuts)
            increments = with_progress(training, increments, n_increments)
        with closing(increments):
            train(training, rules, increments, scorer(training, eval_set, rules))
        fitted = Fitted(classes, 0, rows.X.dtype, training, spec)
        return fitted.without_delegators(rules, training_is_over=False)

    def _with_new_classes(
        self, before: Fitted, training: Training, voters: Voters, classes: NDArray[Any]
    ) -> Training:
        """Return a copy of ``training`` with voters trained on rows of all ``classes``."""
        spec: Any = before.spec
        kept: Any = before.new_classes and before.new_classes.rows
        pool = pool_for(self.pool, spec, classes, self.n_jobs)
        kept = self._with_class_weights(kept)
        visits = pool.train(voters, kept._replace(y=encode(kept.y, classes)))
        return training.with_pool(pool, visits)

    def _start(
        self, classes: NDArray[Any], X: Any, rules: Rules, n_rows: int | None = None
    ) -> tuple[Training, VoterSpec]:
        """Return the training before the first increment, and the specification of its voters."""
        warn_if_many_voters(self.n_estimators)
        entropy = check_random_state(self.random_state).randint(2**31 - 1)
        voters, choices, drawn = np.random.SeedSequence(int(entropy)).spawn(3)
        diversity, named = as_diversity(self.diversity), self._estimators_for(X, len(classes))
        view, named = self._views_of_tables(named)
        are_given = isinstance(diversity.param_distributions, dict | list)
        spec = VoterSpec.draw(
            [estimator for _, estimator in named],
            voters.generate_state(int(self.n_estimators)).tolist(),
            X,
            names=[name for name, _ in named],
            diversity=presets.resolve_diversity(
                diversity,
                has_default_estimator=self.estimator is None,
                is_wide=presets.is_wide(X),
                n_rows=n_rows,
                n_columns=X.shape[1],
                n_classes=len(classes),
                names=[name for name, _ in named],
            ),
            max_features=self.max_features,
            sample=row_sample(self.max_samples, self.bootstrap, X.shape[0]),
            rng=np.random.default_rng(drawn),
            view=view,
        )
        spec.check_voters(only_estimators=not are_given)  # ours are valid
        warn_if_unscaled(X, spec.estimators, have_maps=any(one is not None for one in spec.maps))
        pool = pool_for(self.pool, spec, classes, self.n_jobs)
        rng = np.random.default_rng(choices)
        training = Training.start(pool, len(spec.seeds), rules, rng)
        training.record.voters = spec.descriptions()
        return training, spec

    def _views_of_tables(self, named: Any) -> tuple[Any, Any]:
        """Return the view for voters that cannot see codes, and estimators that can."""
        encoder = self.encoder_
        if encoder is None or not encoder.gives_codes:
            return None, named
        coded = CodedCategories(encoder.is_categorical_)
        pairs = [(name, clone(one) if isinstance(one, TreeVoter) else one) for name, one in named]
        for one in (one for _, one in pairs if isinstance(one, TreeVoter)):
            one.set_params(categorical_features=coded)
        return encoder.view_, pairs

    def _growth(
        self, training: Training, rules: Rules, rows: Rows, order: Voters, n_chosen: int
    ) -> Growth | None:
        """Return the rows for default voters to grow on, or None if they should not."""
        is_default = self.estimator is None and is_auto(self.diversity)
        able = training.pool.can_grow(np.arange(training.graph.n_voters))
        if not (is_default and rules.may_grow and able.any()):
            return None
        is_used = np.ones(len(order), np.bool_)
        if rows.sample_weight is not None:
            is_used = rows.sample_weight[order] > 0
        n_chosen = int(is_used[:n_chosen].sum())
        split = presets.split_for_growth(order[is_used], rows.y, n_chosen)
        if split is None:
            return None
        both = np.union1d(*split)
        all_rows = rows if len(both) == rows.n_rows else rows.at(both)
        return Growth(rows.at(split[0]), rows.at(split[1]), all_rows)

    def _draw_rows(self, X: Any, y: Any, sample_weight: Any) -> DrawnRows:
        """Return the rows that ``fit`` uses: all, or as many as ``max_rows`` allows."""
        X = with_columns(X)
        n_rows, n_columns = table_shape(X)
        limit = self.row_limit(n_columns, is_sparse=scipy.sparse.issparse(X))
        if limit is None or n_rows <= limit:
            return DrawnRows(X, y, sample_weight, None, None, n_rows)
        y = check_labels(y, n_rows)
        weights = check_sample_weight(sample_weight, n_rows, self._estimators())
        used = None if weights is None else np.flatnonzero(weights)
        n_used = n_rows if used is None else len(used)
        drawn = draw_row_numbers(n_used, limit, self.draw_seed())
        numbers = drawn if used is None else used[drawn]
        counts = ClassCounts().plus(y if used is None else y[used])
        own_weights = None if weights is None else weights[numbers]
        return DrawnRows(take_rows(X, numbers), y[numbers], own_weights, numbers, counts, n_rows)

    def _rows_to_time(self, X: Any) -> Any:
        """Return rows on which predictions are timed, if their time is limited."""
        return None if self.max_predict_seconds is None else rows_to_time(with_columns(X))

    def row_limit(self, n_columns: int, *, is_sparse: bool = False) -> int | None:
        """Return the most rows that ``fit`` uses of data with ``n_columns``; None means all."""
        if not is_auto(self.max_rows):
            return None if self.max_rows is None else int(self.max_rows)
        return None if self.estimator is not None else presets.max_rows(n_columns, is_sparse)

    def draw_seed(self) -> int:
        """Return the seed for the numbers of the rows that ``fit`` uses."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _counted_classes(self, counts: ClassCounts) -> NDArray[Any]:
        """Return the classes, without those of weight zero."""
        labels: Any = counts.labels
        if isinstance(self.class_weight, dict):
            labels = labels[class_factors(labels, self.class_weight, counts) > 0]
        return np.asarray(labels)

    def _estimators_for(self, X: Any, n_classes: int) -> Any:
        """Return the named estimators that suit the rows and the classes."""
        if self.estimator is None:
            return presets.estimators_for(X, n_classes)
        return self._named_estimators()

    def _has_trees(self, X: Any, n_classes: int) -> bool:
        return any(isinstance(voter, TreeVoter) for _, voter in self._estimators_for(X, n_classes))

    def _cuts(self, n_rows: int, n_classes: int, *, has_trees: bool) -> list[slice]:
        """Return the increments of ``fit``."""
        if self.increment_size == "auto" and has_trees:
            return presets.rounds(n_rows, all_rows=not self.final_fit, n_classes=n_classes)
        return presets.increments(n_rows, self.increment_size)

    def _rules(self, n_increments: int | None, n_classes: int, *, has_trees: bool = False) -> Rules:
        return Rules(
            mechanism=as_mechanism(self.mechanism),
            sizes=Sizes.of(
                presets.N_FINAL_RANGE if self.n_final == "auto" else self.n_final,
                self.delegation_rate,
                n_voters=self.n_estimators,
                n_increments=n_increments,
            ),
            measure=as_measure(self.competence),
            voting=self._voting,
            n_classes=n_classes,
            last_increment=n_increments if self.final_fit else None,
            sharpens=n_classes > MANY_CLASSES or not (self.final_fit and has_trees),
        )

    def to_stored(self) -> StoredEnsemble:
        """Return the parameters and the learned state, for model files."""
        return StoredEnsemble.of(self)

    @classmethod
    def from_stored(cls, stored: StoredEnsemble) -> Self:
        """Return an ensemble from a model file."""
        ensemble = cls(**stored.params)
        stored.restore(ensemble)
        return ensemble

    def _check_X(self, X: Any, *_methods: str) -> Any:
        X = with_columns(X)
        return check_X(self, X) if self.encoder_ is None else self.encoder_.rows(X)

    def _check_X_y(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return rows to evaluate on, and labels."""
        X = with_columns(X)
        if self.encoder_ is None:
            return check_X_y(self, X, y)
        frame = as_frame(X)
        return self.encoder_.rows(frame), check_labels(y, frame.n_rows)

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, *, n_seen: int, learns: bool = True, **stream: Any
    ) -> Rows:
        """Return validated rows, numbered from ``n_seen``; an encoder may learn from them.

        ``stream`` are the attributes of the encoder of a stream.
        """
        X, is_first = with_columns(X), n_seen == 0
        encoder = self._new_encoder(X, stream) if is_first else self.encoder_
        if encoder is None:
            X, y = check_X_y(self, X, y, reset=is_first)
            weights = check_sample_weight(sample_weight, len(y), self._estimators())
        else:
            X = as_frame(X)
            y = check_labels(y, X.n_rows)
            weights = check_sample_weight(sample_weight, len(y), self._estimators())
            is_used = None if weights is None else weights > 0
            encoded = (
                encoder.learn(X, y, is_used, is_first=is_first) if learns else encoder.encode(X)
            )
            X = encoder.output(encoded)
            self.__dict__.update(encoder.inputs)
        self.encoder_ = encoder
        return Rows(X, y, weights, range(n_seen, n_seen + len(y)))

    def _new_encoder(self, X: Any, attributes: dict[str, Any]) -> TableEncoder | None:
        """Return an encoder for data frames that are not all numbers, or None."""
        self.__dict__.pop("feature_names_in_", None)
        if not needs_encoder(X, self.categorical_features):
            return None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        encoder = TableEncoder(self.categorical_features, random_state=seed)
        encoder.gives_codes = any(isinstance(voter, TreeVoter) for voter in self._estimators())
        encoder.__dict__.update(attributes)
        return encoder

    def _check_more_rows(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, learns: bool = True
    ) -> Rows:
        """Return validated rows in the precision of the first ones."""
        stream = {"announced": classes, "grows": True}
        n_seen = self._fitted.n_samples_seen
        rows = self._check_rows(X, y, sample_weight, n_seen=n_seen, learns=learns, **stream)
        dtype = self._fitted.dtype
        return rows if dtype is None else rows._replace(X=rows.X.astype(dtype, copy=False))

    def _with_class_weights(self, rows: Rows, counts: ClassCounts | None = None) -> Rows:
        rows = with_class_weights(rows, self.class_weight, counts)
        check_weight_range(rows.sample_weight)
        return rows

    def check_parameters(self) -> None:
        """Raise an error unless all parameters are valid, alone and together."""
        self._validate_params()
        parameters.check_delegation(self.n_final, self.n_estimators, self.delegation_rate)
        check_fits_in_memory("n_estimators", self.n_estimators, bytes_each=BYTES_PER_VOTER)
        check_limits(self)
        parameters.check_n_jobs(self.n_jobs)
        parameters.check_estimators(
            self._named_estimators(),
            n_estimators=self.n_estimators,
            taken=self._parameter_constraints if isinstance(self.estimator, list) else (),
        )
        if isinstance(self.diversity, Diversity):
            self.diversity.check([name for name, _ in self._named_estimators()])
        check_pool_supports(self.pool, self._estimators())
        parameters.check_class_weight(self.class_weight)
        if self.class_weight is not None:
            check_take_weights(self._estimators(), parameter="class_weight")

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The features that each of ``estimators_`` sees."""
        voters = self._trained("estimators_features_").graph.representatives.tolist()
        features, spec = np.arange(self._n_columns), self._fitted.spec
        return [features[seen] for seen in spec.features_of(voters)] if spec else []
