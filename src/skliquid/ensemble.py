"""LiquidEnsembleClassifier: check, train, vote."""

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from skliquid.arrays import Floats, Labels, Voters
from skliquid.budget import Budget
from skliquid.competence import MEASURES, Competence, as_competence
from skliquid.delegation_graph import DelegationGraph
from skliquid.discovery import Discovery
from skliquid.increments import Rows, slices
from skliquid.mechanisms import (
    CANDIDATES,
    MECHANISMS,
    VOTE_WEIGHTS,
    AnyMechanism,
    Mechanism,
    Revocable,
    VoteWeights,
    as_mechanism,
    checked_weights,
)
from skliquid.pools import (
    FOURIER_MAPS,
    OWN_ALPHA,
    FittedPool,
    FourierFeatures,
    Sample,
    Variety,
    VoterPool,
    drawn_params,
    drawn_subspaces,
    fitted_maps,
    pool_for,
    voters_of,
)
from skliquid.progress import print_line, with_progress
from skliquid.record import INCREMENTS_KEPT, TrainingCost, TrainingRecord
from skliquid.schedules import Rounded, as_schedule
from skliquid.training import Rules, Training, finish, train
from skliquid.validation import (
    Composition,
    check_can_go_on,
    check_classes,
    check_estimators,
    check_eval_set,
    check_final_fit,
    check_has_begun,
    check_max_samples,
    check_no_budget,
    check_not_pruned,
    check_parameters,
    check_pool,
    check_revocable,
    check_sample_weight,
    check_two_classes,
    check_variety,
    check_X,
    check_X_y,
    encode,
    has_methods,
    n_features_seen,
    one_of,
    positive_integer,
    positive_real,
    positive_share,
    share,
    share_below_one,
    shared_tags,
)
from skliquid.voting import tally, winner

FEATURES_PER_VOTER = 20
"""How many features each voter sees in the paper, as reconstructed from its numbers."""

_VOTES_AT_ONCE, _ROWS_AT_ONCE = 5_000_000, 2**14
_VOTER = SGDClassifier(average=True, n_iter_no_change=1)
"""The voter of an ensemble that is not told otherwise; an average needs no long polishing."""


class Origin(NamedTuple):
    """What voters were made from."""

    seeds: list[int]
    variety: Variety


class LiquidEnsembleClassifier(ClassifierMixin, Composition):
    """An ensemble that prunes itself while it trains.

    After each increment of data the weakest voters delegate their vote, with all the weight they
    carry, to stronger ones, and stop training. What is left is a small ensemble of weighted
    representatives, which is then fitted in full.

    Parameters
    ----------
    estimator : classifier or list of (str, classifier), default=None
        What the voters are clones of, each with its own seed. The kinds in a list are spread evenly
        over the voters. None means linear voters that differ: ``SGDClassifier(average=True,
        n_iter_no_change=1)``, each with its own ``alpha``, on three views of the features; see
        ``param_distributions`` and ``feature_maps``. A classifier whose ``partial_fit`` is
        missing, or does not work with its parameters, is fitted anew on all rows so far at each
        increment; while only one class has come, a ``DummyClassifier`` stands in for it. Voters see
        rows as an array of numbers without column names: encode categories before the ensemble.
    n_estimators : int, default=80
        Number of voters at the start.
    n_final : int, default=12
        Number of representatives at which delegation ends. It need not be reached: data may run
        out, and a voter with no better one to choose stays. ``record_.reached_n_final`` tells.
    mechanism : str, Mechanism or pair of callables, default="proportional_weighted"
        Who delegates, and to whom: ``"direct"``, ``"random"``, ``"max"``, ``"random_better"``,
        ``"proportional_better"``, ``"proportional_weighted"``, or your own pair (g, p); see
        :class:`~skliquid.mechanisms.Mechanism`.
        ``"learning_slopes"``, for streams, lets those represent who learn fastest, in an order made
        anew at every increment.
    delegation_rate : float, callable, schedule or "auto", default="auto"
        The share of the representatives that delegate at each increment; at least one does while
        more than ``n_final`` are left. A function from the increment (from 1) to the share, or a
        schedule of :mod:`skliquid.schedules`, varies it; it is asked ahead for increments to come,
        so it should depend on the increment alone. ``"auto"`` is just fast enough to reach
        ``n_final`` with the increments at hand; in ``partial_fit``, which cannot know them, it is
        0.05.
    increment_size : int or "auto", default="auto"
        Number of rows between delegations; the last increment may be shorter. ``"auto"`` makes 50
        increments of ``fit``'s rows, or as many as leave each with 25 rows, all of one size but for
        a row; and one of each call of ``partial_fit``.
    competence : {"prequential", "training"}, default="prequential"
        Where accuracy is measured: on each increment before training on it, which does not flatter
        voters that learn by heart, such as trees, but measures nothing at the first increment,
        after which nobody delegates; or on the increment just trained on, as in the paper. Either
        costs the same, is averaged over increments and does not use ``sample_weight``.
    candidates : {"representatives", "voters"}, default="representatives"
        Whom a delegator may choose. With ``"voters"`` also earlier delegators, whose guru then
        receives the weight.
    revocable : bool, default=False
        Whether delegations may be taken back, as suits a stream that drifts: delegators are scored
        on every increment, without training, and one that has become better than its guru, beyond
        chance, represents itself again and trains. As many others delegate in its place.
    memory : int, float, None or "auto", default="auto"
        Over what accuracies are averaged: all increments (None), that many of the last, or all
        with weights that fall by this factor, below 1, from one to the increment before it.
        ``"auto"``: the last 20 where delegations are revocable, else all. It counts from the
        first call of ``partial_fit``.
    final_fit : {"scratch", "warm", "none"}, default="scratch"
        Whether ``fit`` ends by fitting the representatives on all rows: anew, from where
        the increments left them (for estimators with ``partial_fit`` and ``warm_start``), or not at
        all. Without it the representatives go on through the increments when delegation has ended.
    bootstrap : bool, default=False
        Whether each voter learns from its own sample of the rows, drawn with replacement: how often
        it sees a row follows a Poisson distribution, which needs no second look at the data.
    max_samples : int or float, default=1.0
        How many rows each voter learns from: a share, or for ``fit`` a number of rows. Without
        ``bootstrap``, below 1.0 each voter leaves rows out at random.
    max_features : int or float, default=1.0
        How many features each voter looks at, as a number or a share, drawn at random without
        replacement. A number above that of the features means all of them. Voters with a feature
        map look at all that it gives.
    param_distributions : dict, list of dict, "auto" or None, default="auto"
        Parameters that each voter draws for itself, from lists or from distributions with ``rvs``,
        as in ``RandomizedSearchCV``. The search is then part of the training: those who drew badly
        delegate, and their votes are kept. ``"auto"``: when ``estimator`` is None, ``alpha`` from
        1e-6 to 1e-2 on a logarithmic scale, else nothing.
    feature_maps : list of transformers, "fourier", "auto" or None, default="auto"
        Through which voters look at the rows, spread evenly over them: ``RBFSampler`` and
        ``Nystroem`` of :mod:`sklearn.kernel_approximation` make linear voters non-linear. They are
        fitted to the rows of ``fit``, or of the first call of ``partial_fit``, without labels, and
        each increment is mapped once for all voters that share a map. ``"passthrough"`` in the list
        stands for the rows as they are. ``"fourier"``: a third of the voters see the logarithm of
        each feature with its sign, the others random Fourier features of that, of two bandwidths,
        which suit scaled features. ``"auto"``: ``"fourier"`` when ``estimator`` is None, else None.
    vote_weights : {"delegated", "log_odds", "delegated_log_odds"} or callable, default="delegated"
        How much representatives count when the ensemble votes: the votes they carry, the
        logarithm of the odds that they are right, or the product of both. A function
        ``vote_weights(graph, accuracy, n_classes)`` returns a number for each representative; see
        :mod:`skliquid.mechanisms.vote_weights`.
    max_cost : int, default=None
        The most sample visits that ``fit`` may take, the final fit included: at least a pass of all
        voters over the first increment. It ends with the best ensemble so far, and
        ``record_.stopped`` says what was cut short. Voters that are fitted anew at each increment
        are held to the passes that can be paid for, where they have ``max_iter``. Not for
        ``partial_fit``, whose caller knows when to stop.
    max_seconds : float, default=None
        The same in seconds, as far as can be foretold by what went before.
    pool : {"auto", "linear", "estimator"} or DaskPool, default="auto"
        How voters are held. ``"linear"``: ``SGDClassifier`` and ``Perceptron`` voters in one array,
        trained by compiled code, with the same bits, many times faster; an error says which
        parameter it does not support. ``"estimator"``: one scikit-learn object each.
        ``"auto"``: linear for those voters that allow it.
        ``DaskPool(client)``: in shards on the workers of a Dask cluster, with the same bits.
    n_jobs : int, default=None
        Number of threads that train and ask voters, as joblib counts them. The result does not
        depend on it. Threads pay where one voter's training takes long and lets go of Python's
        lock, as with trees, and cost time on small increments.
    verbose : int, default=0
        Whether training that takes long says every two seconds how far it is.
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
        The features that each of ``estimators_`` looks at.
    estimator_weights_ : ndarray of int
        Votes that each of ``estimators_`` carries. They sum to ``n_estimators``.
    delegation_graph_ : DelegationGraph
        Who delegates to whom.
    record_ : TrainingRecord
        What happened at each increment; ``record_.to_pandas()`` is a table of it.
    training_cost_ : TrainingCost
        Sample visits of the ``increments`` and of the ``final_fit``, and their ``total``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skliquid import LiquidEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(n_estimators=50, n_final=5, random_state=0)
    >>> model = make_pipeline(StandardScaler(), ensemble).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), int(ensemble.estimator_weights_.sum())
    (True, 50)
    """

    _origin = Origin([], Variety())
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [has_methods("fit"), list, None],
        "n_estimators": [positive_integer],
        "n_final": [positive_integer],
        "mechanism": [one_of(MECHANISMS), Mechanism, Revocable, tuple],
        "delegation_rate": [one_of(["auto"]), share, callable, has_methods("n_delegators")],
        "increment_size": [one_of(["auto"]), positive_integer],
        "competence": [one_of(MEASURES), Competence],
        "candidates": [one_of(CANDIDATES)],
        "revocable": ["boolean"],
        "memory": [one_of(["auto"]), positive_integer, share_below_one, None],
        "final_fit": ["boolean", one_of(["scratch", "warm", "none"])],
        "bootstrap": ["boolean"],
        "max_samples": [positive_integer, positive_share],
        "max_features": [positive_integer, positive_share],
        "param_distributions": [one_of(["auto"]), dict, list, None],
        "feature_maps": [one_of(["auto", "fourier"]), list, None],
        "vote_weights": [one_of(VOTE_WEIGHTS), callable],
        "max_cost": [positive_integer, None],
        "max_seconds": [positive_real, None],
        "pool": [one_of(["auto", "linear", "estimator"]), has_methods("pool_for")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 80,
        n_final: int = 12,
        mechanism: Any = "proportional_weighted",
        delegation_rate: Any = "auto",
        increment_size: Any = "auto",
        competence: Any = "prequential",
        candidates: str = "representatives",
        revocable: bool = False,
        memory: Any = "auto",
        final_fit: Any = True,
        bootstrap: bool = False,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        param_distributions: Any = "auto",
        feature_maps: Any = "auto",
        vote_weights: Any = "delegated",
        max_cost: int | None = None,
        max_seconds: float | None = None,
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
        self.candidates = candidates
        self.revocable = revocable
        self.memory = memory
        self.final_fit = final_fit
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_features = max_features
        self.param_distributions = param_distributions
        self.feature_maps = feature_maps
        self.vote_weights = vote_weights
        self.max_cost = max_cost
        self.max_seconds = max_seconds
        self.pool = pool
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def as_in_the_paper(cls, **changes: Any) -> Self:
        """Return the ensemble with which the paper's accuracy is best: u = 65 and rate 0.05.

        Two settings are not in the paper's text but follow from its numbers: each voter sees 20
        random features, or all where there are fewer, and a delegator may choose any voter. See
        ``docs/what_the_paper_did_not_say.md``.

        Parameters
        ----------
        **changes : dict
            Parameters to be set otherwise; ``increment_size=25`` and ``delegation_rate=0.85`` give
            the paper's cheapest.

        Returns
        -------
        ensemble : LiquidEnsembleClassifier
            350 copies of ``SGDClassifier()`` that differ in their seeds and features.
        """
        settings = {
            "estimator": SGDClassifier(),
            "n_estimators": 350,
            "n_final": 10,
            "mechanism": "proportional_weighted",
            "delegation_rate": Rounded(0.05, "floor"),
            "increment_size": 65,
            "competence": "training",
            "candidates": "voters",
            "max_features": FEATURES_PER_VOTER,
            "param_distributions": None,
            "feature_maps": None,
        }
        return cls(**settings | changes)

    @classmethod
    def for_streams(cls, **changes: Any) -> Self:
        """Return an ensemble for streams that drift, to be fed scaled rows by ``partial_fit``.

        Its voters learn at a constant rate, each at its own, on the rows as they are and on random
        Fourier features of them; delegations are revocable, and votes weighed by how accurate their
        representative has been of late. Averages, as other ensembles take them by default, would
        never forget. Increments of some 100 rows suit it.

        Parameters
        ----------
        **changes : dict
            Parameters to be set otherwise.

        Returns
        -------
        ensemble : LiquidEnsembleClassifier
            60 voters, of which 12 remain.
        """
        settings = {
            "estimator": SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1),
            "n_estimators": 60,
            "n_final": 12,
            "param_distributions": {"eta0": loguniform(1e-2, 2), "alpha": loguniform(1e-6, 1e-3)},
            "feature_maps": ["passthrough"]
            + 3 * [FourierFeatures(gamma="scale", n_components=200)],
            "vote_weights": "delegated_log_odds",
            "revocable": True,
        }
        return cls(**settings | changes)

    # Training

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Self:
        """Train on all rows: by increments, in random order, and then in full.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the training of every voter. Rows of weight zero are left
            out.
        eval_set : tuple (X, y), default=None
            Rows on which the ensemble's accuracy is recorded after each increment.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The fitted ensemble.
        """
        check_not_pruned(self)
        self._check_parameters()
        X, y = check_X_y(self, X, y, reset=True)
        sample_weight = check_sample_weight(sample_weight, X, self._kinds())
        check_two_classes(y, sample_weight)
        data = Rows(range(len(y)), X, y, sample_weight).without_zero_weights()
        classes, labels = np.unique(data.y, return_inverse=True)
        data = data._replace(y=labels)
        eval_set = check_eval_set(self, eval_set, classes)

        budget = Budget(self.max_cost, self.max_seconds)
        cuts = slices(len(labels), self.increment_size)
        training, origin = self._start(classes, data.X)
        budget.know(self._kinds(), *origin)
        order = training.rng.permutation(len(labels))
        increments = budget.increments(training, (data.at(order[cut]) for cut in cuts))
        if self.verbose:
            increments = with_progress(training, increments, len(cuts))
        rules = self._rules(len(cuts))
        train(training, rules, increments, self._evaluation(training, eval_set))
        if self._is_finished:
            if self.verbose:
                print_line(f"final fit of {len(training.graph.representatives)} representatives")
            is_warm = self.final_fit == "warm"
            if budget.is_unlimited and not is_warm:
                finish(training, *data[1:])
            else:
                budget.finish(training, data, warm=is_warm)
        budget.conclude(training)
        self.classes_, self.n_samples_seen_, self._dtype = classes, len(y), X.dtype
        self._training, self._origin = training, origin
        self._discovery: Discovery | None = None
        self._keep(rules, training_is_over=True)
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
        """Train on more rows, in their order; delegation goes on from call to call.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows: one increment, or several when ``increment_size`` is a number. Delegation
            is decided on each, so give a few dozen rows at once rather than one.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All labels that may ever come, announced at the first call. Left out there, classes are
            discovered: training begins when there are two, and when another comes later, the voters
            begin anew with rows kept for that purpose, at most 2,000, of all classes alike.
            Delegations stay.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the training of every voter. Rows of weight zero are left
            out.
        eval_set : tuple (X, y), default=None
            Rows on which the ensemble's accuracy is recorded after each increment.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble.
        """
        self._check_parameters()
        self._check_no_budget()
        known, seen = getattr(self, "classes_", None), getattr(self, "n_samples_seen_", 0)
        X, y = check_X_y(self, X, y, reset=not hasattr(self, "n_samples_seen_"))
        if known is None:
            check_max_samples(self.max_samples)
        else:
            X = X.astype(self._dtype, copy=False)  # voters go on in the precision they began in
        sample_weight = check_sample_weight(sample_weight, X, self._kinds())
        data = Rows(range(seen, seen + len(y)), X, y, sample_weight).without_zero_weights()
        data, classes, discovery = self._found(data, classes)
        eval_set = check_eval_set(self, eval_set, classes)
        if len(classes) > 1:
            self._go_on(data._replace(y=encode(data.y, classes)), classes, eval_set)
        self.n_samples_seen_, self._discovery = seen + len(y), discovery
        return self

    def _found(self, data: Rows, classes: Any) -> tuple[Rows, NDArray[Any], Discovery | None]:
        """Return rows to learn from, all classes, and what of them was discovered."""
        known, discovery = getattr(self, "classes_", None), getattr(self, "_discovery", None)
        if known is None and discovery is None and classes is None:
            discovery = Discovery()
        if discovery is None:
            return data, check_classes(classes, known), None
        found = discovery.classes(data.y) if classes is None else check_classes(classes, known)
        rows = discovery.followed_by(data) if known is None else data
        return rows, found, discovery.update(data)

    def _go_on(
        self, data: Rows, classes: NDArray[Any], eval_set: tuple[Any, Labels, int] | None
    ) -> None:
        """Train on ``data``, from the start or from where training is."""
        known, rules = getattr(self, "classes_", None), self._rules(None)
        training, origin = getattr(self, "_training", None), self._origin
        if training is None and len(data.y) == 0:  # which leaves nothing to begin with
            self.classes_, self._dtype = classes, data.X.dtype
            return
        if training is None:
            training, origin = self._start(classes, data.X)
        check_can_go_on(training, self.n_estimators)
        check_revocable(rules.mechanism.scored(training.graph), getattr(self, "_held", None))
        if known is not None and len(classes) > len(known):
            training = self._learned_again(training, origin, rules, classes)
        size = max(len(data.y), 1) if self.increment_size == "auto" else self.increment_size
        cuts = slices(len(data.y), size)
        increments: Iterable[Rows] = (data.at(cut) for cut in cuts)
        if self.verbose:
            increments = with_progress(
                training, increments, training.record.n_increments + len(cuts)
            )
        training.pool.n_jobs, training.record.most = self.n_jobs, INCREMENTS_KEPT
        train(training, rules, increments, self._evaluation(training, eval_set))
        self.classes_, self._dtype = classes, data.X.dtype
        self._training, self._origin = training, origin
        if training.record:
            self._keep(rules, training_is_over=False)

    def _learned_again(
        self, training: Training, origin: Origin, rules: Rules, classes: NDArray[Any]
    ) -> Training:
        """Return a copy of ``training``, with voters that know ``classes`` instead of fewer.

        If something fails, the ensemble is still what it was.
        """
        kept: Any = self._discovery and self._discovery.rows
        voters = rules.mechanism.scored(training.graph)
        pool = self._pool(classes, origin)
        visits = pool.train(voters, kept.X, encode(kept.y, classes), kept.sample_weight)
        return training.with_pool(pool, visits)

    def _keep(self, rules: Rules, *, training_is_over: bool) -> None:
        """Forget the voters that will not be asked again."""
        self._held = rules.mechanism.scored(self._training.graph)
        self._training.pool.keep(self._held, training_is_over=training_is_over)

    def _check_parameters(self) -> None:
        check_parameters(self)
        check_estimators(
            self._named_kinds(),
            n_estimators=self.n_estimators,
            taken=self._parameter_constraints if isinstance(self.estimator, list) else (),
        )
        check_final_fit(self.final_fit, self._kinds())
        check_pool(self.pool, self._kinds())
        check_variety(self.feature_maps, self.param_distributions)

    def _check_no_budget(self) -> None:
        check_no_budget(self.max_cost, self.max_seconds)

    def _named_kinds(self) -> list[tuple[str, Any]]:
        if isinstance(self.estimator, list):
            return self.estimator
        return [("estimator", _VOTER if self.estimator is None else self.estimator)]

    def _kinds(self) -> list[Any]:
        return [kind for _, kind in self._named_kinds()]

    def _judge(self, pool: FittedPool, classes: NDArray[Any], X: Any, y: Any) -> Self:
        """Let voters that are fitted delegate, by how they do on ``X`` and ``y``."""
        self._check_parameters()
        rng = np.random.default_rng(self.random_state)
        rules = self._rules(None)
        self._training = training = Training.start(pool, self.n_estimators, rules, rng)
        self._held = training.graph.representatives
        answers, y = check_X_y(self, X, y)
        data = Rows(range(len(y)), answers, encode(y, classes), None)
        cuts = slices(len(y), self.increment_size)
        rules, order = self._rules(len(cuts)), rng.permutation(len(y))
        train(training, rules, (data.at(order[cut]) for cut in cuts))
        self.classes_, self.n_samples_seen_ = classes, len(y)
        self._dtype, self._discovery = answers.dtype, None
        self._keep(rules, training_is_over=True)
        return self

    @property
    def _fitted_pool(self) -> FittedPool | None:
        """The voters of an ensemble that was pruned; None in any other."""
        pool = self._training.pool if "_training" in vars(self) else None
        return pool if isinstance(pool, FittedPool) else None

    def _start(self, classes: NDArray[Any], X: Any) -> tuple[Training, Origin]:
        entropy = check_random_state(self.random_state).randint(2**31 - 1)
        sources = np.random.SeedSequence(int(entropy)).spawn(3)
        of_voters, of_choices, of_variety = sources
        seeds = of_voters.generate_state(int(self.n_estimators)).tolist()
        origin = Origin(seeds, self._variety(X, np.random.default_rng(of_variety)))
        if origin.variety.params:
            check_pool(self.pool, voters_of(self._kinds(), seeds, origin.variety.params))
        pool, rng = self._pool(classes, origin), np.random.default_rng(of_choices)
        return Training.start(pool, len(seeds), self._rules(None), rng), origin

    @property
    def _is_finished(self) -> bool:
        return self.final_fit not in (False, "none")

    def _mechanism(self) -> AnyMechanism:
        changes = {}
        if self.candidates != "representatives":
            changes["candidates"] = self.candidates
        if self.vote_weights != "delegated":
            changes["vote_weights"] = self.vote_weights
        mechanism = as_mechanism(self.mechanism, **changes)
        if self.revocable and isinstance(mechanism, Mechanism):
            return Revocable(mechanism)
        return mechanism

    def _competence(self) -> Competence:
        competence = as_competence(self.competence)
        is_auto = isinstance(self.memory, str)
        return competence if is_auto else Competence(competence.measured, self.memory)

    def _pool(self, classes: NDArray[Any], origin: Origin) -> VoterPool:
        """Return the voters, not trained."""
        named = isinstance(self.pool, str)
        make: Callable[..., VoterPool] = (
            partial(pool_for, self.pool) if named else self.pool.pool_for
        )
        return make(self._kinds(), origin.seeds, classes, self.n_jobs, variety=origin.variety)

    def _variety(self, X: Any, rng: np.random.Generator) -> Variety:
        """Return what voters do not have in common; maps are fitted to ``X``."""
        n_voters, n_features = int(self.n_estimators), X.shape[1]
        n_seen = n_features_seen(self.max_features, n_features)
        maps, params = self.feature_maps, self.param_distributions
        if isinstance(maps, str):
            maps = FOURIER_MAPS if maps == "fourier" or self.estimator is None else None
        if isinstance(params, str):
            params = OWN_ALPHA if self.estimator is None else None
        maps, params = maps or [], params or {}
        of_params, *of_maps = rng.integers(2**31 - 1, size=1 + len(maps)).tolist()
        return Variety(
            params=drawn_params(params, n_voters, np.random.RandomState(of_params)),
            subspaces=None
            if n_seen == n_features
            else drawn_subspaces(n_voters, n_features, n_seen, rng),
            maps=fitted_maps(maps, X, of_maps),
            sample=self._sample(X.shape[0]),
        )

    def _sample(self, n_rows: int) -> Sample | None:
        is_share = isinstance(self.max_samples, float)
        share = self.max_samples if is_share else self.max_samples / n_rows
        return Sample(min(share, 1), self.bootstrap) if self.bootstrap or share < 1 else None

    def _rules(self, n_increments: int | None) -> Rules:
        return Rules(
            mechanism=self._mechanism(),
            schedule=as_schedule(
                self.delegation_rate,
                n_voters=self.n_estimators,
                n_final=self.n_final,
                n_increments=n_increments,
            ),
            competence=self._competence(),
            n_final=self.n_final,
            last_increment=n_increments if self._is_finished else None,
        )

    def _evaluation(
        self, training: Training, eval_set: tuple[Any, Labels, int] | None
    ) -> Callable[[DelegationGraph], float] | None:
        if eval_set is None:
            return None
        X, y, n_classes = eval_set
        weights = self._mechanism().vote_weights
        return lambda _: float(np.mean(winner(shares(training, X, n_classes, weights)) == y))

    # Voting

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that receives most weight; among equals the first in sorted order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        classes = winner(self.predict_proba(X))
        return self.classes_[classes]

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of the weight that each class receives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            Shares in the order of ``classes_``; each row sums to one.
        """
        check_has_begun(self)
        check_is_fitted(self)
        self._training.pool.n_jobs = self.n_jobs
        weights = self._mechanism().vote_weights
        return shares(self._training, check_X(self, X), len(self.classes_), weights)

    def decision_function(self, X: Any) -> Floats:
        """Return by how much the second class outweighs the first; with more classes, all shares.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Between -1 and 1 for two classes, positive where the second wins.
        """
        shares = self.predict_proba(X)
        return shares[:, 1] - shares[:, 0] if len(self.classes_) == 2 else shares

    # What training left

    @property
    def estimators_(self) -> list[Any]:
        """The representatives, fitted."""
        training = self._trained("estimators_")
        return training.pool.estimators(training.graph.representatives)

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The features that each of ``estimators_`` looks at."""
        voters = self._trained("estimators_features_").graph.representatives
        everything, n_kinds = np.arange(self.n_features_in_), len(self._kinds())
        if self._fitted_pool is not None:
            seen = [voter.features for voter in self._fitted_pool.voters(voters)]
            return [everything if features is None else features for features in seen]
        return [everything[self._origin.variety.features_of(v, n_kinds)] for v in voters.tolist()]

    @property
    def estimator_weights_(self) -> Voters:
        """Votes that each of ``estimators_`` carries."""
        graph = self._trained("estimator_weights_").graph
        return graph.weights[graph.representatives]

    @property
    def delegation_graph_(self) -> DelegationGraph:
        """Who delegates to whom."""
        return self._trained("delegation_graph_").graph

    @property
    def record_(self) -> TrainingRecord:
        """What happened at each increment."""
        return self._trained("record_").record

    @property
    def training_cost_(self) -> TrainingCost:
        """Sample visits of the increments and of the final fit."""
        return self._trained("training_cost_").record.cost

    def _trained(self, name: str) -> Training:
        if "_training" not in vars(self):
            raise AttributeError(f"{name} is there only after training: call fit or partial_fit.")
        return self._training

    # What scikit-learn asks

    def __sklearn_tags__(self) -> Tags:
        pairs = [pair for pair in self._named_kinds() if isinstance(pair, tuple)]
        pool = self._fitted_pool
        kinds = pool.estimators(self._held) if pool else [pair[-1] for pair in pairs if pair]
        return shared_tags(super().__sklearn_tags__(), kinds)

    def __sklearn_clone__(self) -> Self:
        check_not_pruned(self)
        copy: Self = super().__sklearn_clone__()
        return copy

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_training") and len(self._training.record) > 0

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the estimators in a list under their names.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of estimators as well.

        Returns
        -------
        params : dict
            Parameters by name.
        """
        named = deep and isinstance(self.estimator, list)
        params: dict[str, Any] = (
            self._get_params("estimator") if named else super().get_params(deep=deep)
        )
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of estimators as ``estimator__alpha`` or ``name__alpha``.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble.
        """
        if params.get("estimator", self.estimator) is None:
            params = self._spelled_out(params)
        if isinstance(params.get("estimator", self.estimator), list):
            self._set_params("estimator", **params)
        else:
            super().set_params(**params)
        return self

    def _spelled_out(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return ``params`` with what None and "auto" stand for, if some are of the voter."""
        inner = "estimator__"
        own = {k.removeprefix(inner): v for k, v in params.items() if k.startswith(inner)}
        if not own:
            return params
        params = {k: v for k, v in params.items() if not k.startswith(inner)}
        meant = {
            "feature_maps": "fourier",
            "param_distributions": None if "alpha" in own else OWN_ALPHA,
        }
        autos = {k: v for k, v in meant.items() if _is_auto(params.get(k, getattr(self, k)))}
        return params | autos | {"estimator": clone(_VOTER).set_params(**own)}


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def shares(
    training: Training, X: Any, n_classes: int, vote_weights: str | VoteWeights = "delegated"
) -> Floats:
    """Return the share of the weight that each class receives, counted block by block."""
    voters = training.graph.representatives
    weights = checked_weights(vote_weights, training.graph, training.accuracy, n_classes)
    blocks = slices(X.shape[0], min(max(_VOTES_AT_ONCE // len(voters), 1), _ROWS_AT_ONCE))
    votes = (training.pool.vote(voters, X[block]) for block in blocks)
    return np.concatenate([tally(each, weights, n_classes) for each in votes])
