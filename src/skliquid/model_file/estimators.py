"""Estimators: scikit-learn's and our own transformers and voters, as parameters and attributes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from skliquid import native
from skliquid.class_weights import ClassCounts
from skliquid.column_encoders import TextEncoder
from skliquid.diversity import Diversity, FourierFeatures
from skliquid.diversity.standardizer import Standardizer
from skliquid.model_file import tables
from skliquid.model_file.fields import (
    LARGEST,
    Anything,
    Check,
    Flag,
    Integer,
    Is,
    Items,
    Keyed,
    Labels,
    Maybe,
    Number,
    Text,
    Unfit,
    floats,
    integers,
)
from skliquid.model_file.values import Kind
from skliquid.tabular import TableEncoder
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier
from skliquid.voters.categories import CategoryCoder
from skliquid.voters.grown_trees import IS_LEAF, GrownTrees
from skliquid.voters.recent_rows import RecentRows

_SEEN: dict[str, Check] = {
    "n_features_in_": Integer(1, 2**31 - 1, name="n_features"),
    "feature_names_in_": Labels("n_features", are_sorted=False),
    "_sklearn_output_config": Keyed(Text()),
}
"""Attributes that any estimator may have."""

_FORGOTTEN = {"_stop_words_id"}  # an address in memory
_ANY, _FLOATS = Anything(), floats("n_features", may_be_nan=True)
_FINITE = floats("n_features")
_COMPONENTS = floats("n_components")
_MOST_MULTIPLIED = 10_000
_POLYNOMIAL = ("_min_degree", "_max_degree", "n_output_features_", "_n_out_full")


def estimator_kind(
    cls: type,
    fitted: Mapping[str, Check] | None = None,
    check: Callable[[Any], None] | None = None,
    optional: Iterable[str] = (),
) -> Kind:
    """Return the kind of an estimator: its parameters, and attributes if it is fitted.

    It has all attributes of ``fitted``, but for ``optional`` ones, or none of them. Without
    ``fitted``, attributes are not kept.
    """
    attributes: dict[str, Check] = {} if fitted is None else {**_SEEN, **fitted}

    def take_apart(estimator: Any) -> dict[str, Any]:
        params = estimator.get_params(deep=False)
        others = {k: v for k, v in vars(estimator).items() if k not in params}
        kept = {k: v for k, v in others.items() if k not in _FORGOTTEN and fitted is not None}
        return {"params": params, **dict(sorted(kept.items()))}

    def make(params: dict[str, Any], **found: Any) -> Any:
        estimator = made(cls, params)
        vars(estimator).update(found)
        if fitted is not None and (found.keys() & fitted.keys() or not fitted):
            missing = fitted.keys() - found.keys() - set(optional)
            if missing:
                raise Unfit(f"a {cls.__name__} with the attribute {min(missing)}")
            if check is not None:
                check(estimator)
        return estimator

    fields: dict[str, Check] = {"params": Keyed(), **attributes}
    return Kind(cls.__name__, cls, fields, take_apart, make, frozenset(attributes))


def made(cls: Any, params: dict[str, Any]) -> Any:
    """Return an estimator with parameters that it accepts."""
    unknown = params.keys() - set(cls._get_param_names())
    if unknown:
        raise Unfit(f"a {cls.__name__} without the parameter {sorted(unknown)[0]!r:.60}")
    estimator = cls(**params)
    if hasattr(estimator, "check_parameters"):
        estimator.check_parameters()
    elif hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()
    return estimator


def _check_pipeline(pipeline: Pipeline) -> None:
    if not all(isinstance(step, tuple) and len(step) == 2 for step in pipeline.steps):
        raise Unfit("a pipeline of named steps")
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    names = {name for name, _ in pipeline.steps}
    if not steps or not all(hasattr(step, "transform") for step in steps[:-1]):
        raise Unfit("a pipeline of transformers, of which the last may be a classifier")
    if len(names) < len(pipeline.steps) or not all(isinstance(name, str) for name in names):
        raise Unfit("a pipeline of steps with different names")


def _check_scaler(scaler: Any) -> None:
    if scaler.scale_ is not None and np.any(np.abs(scaler.scale_) < 1 / LARGEST):
        raise Unfit("a scaler by numbers that are not zero")


def _check_polynomial(features: PolynomialFeatures) -> None:
    if features.n_features_in_ > _MOST_MULTIPLIED:
        raise Unfit(f"polynomial features of at most {_MOST_MULTIPLIED} columns")
    again = PolynomialFeatures(**features.get_params()).fit(np.zeros((1, features.n_features_in_)))
    if any(getattr(again, name) != getattr(features, name) for name in _POLYNOMIAL):
        raise Unfit("polynomial features as their parameters say")


def _check_sampler(features: FourierFeatures) -> None:
    if features.sampler_.n_features_in_ != features.n_features_in_:
        raise Unfit("Fourier features of as many columns as their sampler")


def _check_tree_voter(voter: Any) -> None:
    trees, n_outputs = voter.trees_, max(voter.n_outputs, 1)
    if trees.n_outputs != n_outputs or trees.n_columns != voter.n_features_in_:
        raise Unfit("trees for these classes and columns")
    check_trees(voter)


def check_trees(voter: Any) -> None:
    """Raise unless the leaves of a voter hold what it can turn into probabilities."""
    if isinstance(voter, BoostedTreesClassifier):
        if voter.base_scores_.shape != (voter.n_outputs,) or voter.trees_.is_sparse:
            raise Unfit("boosted trees with as many base scores as outputs")
        return
    for tree in voter.trees_.trees:
        nodes = np.frombuffer(tree[0], dtype=native.NODE)
        values = np.frombuffer(tree[1], dtype=np.float32)
        if voter.trees_.is_sparse:
            leaves = nodes[nodes["feature"] == IS_LEAF]
            sums = np.append(0.0, np.cumsum(values[1::2], dtype=np.float64))
            first = leaves["next"].astype(np.intp)
            totals = sums[first + leaves["cut"].astype(np.intp)] - sums[first]
            values = values[1::2]
        else:
            totals = values.reshape(-1, voter.trees_.n_outputs).sum(axis=1)
        if values.min() < 0 or totals.min() <= 0:
            raise Unfit("a forest whose leaves hold shares")


_TREES: dict[str, Check] = {
    "classes_": Labels(),
    "n_grown_": Integer(),
    "n_seen_": Integer(),
    "n_visits_": Integer(),
    "trees_": Is((GrownTrees,)),
    "base_scores_": floats("n_outputs"),
    "_seed": Integer(0, 2**63),
    "_turns": Number(0),
    "_recent": Is((RecentRows,)),
    "_counts": Is((ClassCounts,)),
    "_coder": Maybe(Is((CategoryCoder,))),
}
_OF_SOME = ("base_scores_", "_coder")
_SCALED: dict[str, Check] = {"scale_": Maybe(_FINITE), "n_samples_seen_": _ANY}
_DECOMPOSED: dict[str, Check] = {
    "components_": floats("n_components", "n_features"),
    "explained_variance_": _COMPONENTS,
    "explained_variance_ratio_": floats("n_components", may_be_nan=True),
    "singular_values_": _COMPONENTS,
}

KINDS = [
    estimator_kind(Diversity),
    # voters, of which pools keep what they have learned
    estimator_kind(SGDClassifier),
    estimator_kind(Perceptron),
    estimator_kind(RandomizedForestClassifier, _TREES, _check_tree_voter, _OF_SOME),
    estimator_kind(BoostedTreesClassifier, _TREES, _check_tree_voter, _OF_SOME),
    # feature maps
    estimator_kind(Standardizer, {"mean_": _FINITE, "scale_": _FINITE}, _check_scaler),
    estimator_kind(
        FourierFeatures, {"sampler_": Is((RBFSampler,)), "_n_features_out": _ANY}, _check_sampler
    ),
    estimator_kind(
        RBFSampler,
        {
            "random_weights_": floats("n_features", "n_components"),
            "random_offset_": _COMPONENTS,
            "_n_features_out": Integer(1, name="n_components"),
            "_gamma": _ANY,
        },
    ),
    estimator_kind(
        Nystroem,
        {
            "components_": floats("n_components", "n_features"),
            "component_indices_": integers("n_components"),
            "normalization_": floats("n_components", "n_components"),
            "_n_features_out": Integer(1, name="n_components"),
        },
    ),
    estimator_kind(
        StandardScaler, {**_SCALED, "mean_": Maybe(_FINITE), "var_": Maybe(_FINITE)}, _check_scaler
    ),
    estimator_kind(
        MinMaxScaler,
        {
            **_SCALED,
            **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), _FINITE),
        },
    ),
    estimator_kind(MaxAbsScaler, {**_SCALED, "max_abs_": _FINITE}, _check_scaler),
    estimator_kind(
        RobustScaler, {"scale_": Maybe(_FINITE), "center_": Maybe(_FINITE)}, _check_scaler
    ),
    estimator_kind(Normalizer, {}),
    estimator_kind(
        QuantileTransformer,
        {
            "n_quantiles_": Integer(1, name="n_quantiles"),
            "quantiles_": floats("n_quantiles", "n_features"),
            "references_": floats("n_quantiles"),
        },
    ),
    estimator_kind(
        PolynomialFeatures,
        dict.fromkeys(_POLYNOMIAL, Integer(0, 2**31)),
        _check_polynomial,
    ),
    estimator_kind(
        PCA,
        {
            **_DECOMPOSED,
            "mean_": _FINITE,
            "n_components_": Integer(1, name="n_components"),
            "noise_variance_": _ANY,
            "n_samples_": Integer(1),
            "_fit_svd_solver": Text(),
        },
    ),
    estimator_kind(TruncatedSVD, _DECOMPOSED),
    # tables
    estimator_kind(Pipeline, {}, _check_pipeline),
    estimator_kind(FunctionTransformer, {}),
    estimator_kind(
        SimpleImputer,
        {
            "statistics_": _FLOATS,
            "indicator_": Maybe(Is((MissingIndicator,))),
            "_fit_dtype": Is((np.dtype,)),
            "_fill_dtype": Is((np.dtype,)),
        },
        tables.check_imputer,
        ("_fill_dtype",),  # since scikit-learn 1.7
    ),
    estimator_kind(
        MissingIndicator,
        {
            "features_": integers("n_indicated"),
            "_n_features": Integer(1, name="n_features"),
            "_precomputed": Flag(),
        },
        tables.check_indicator,
    ),
    estimator_kind(VarianceThreshold, {"variances_": floats("n_features", low=0)}),
    estimator_kind(
        OneHotEncoder,
        {
            "categories_": Items(Labels("", are_sorted=False), name="n_features"),
            "drop_idx_": Is((type(None),)),
            "_infrequent_enabled": Flag(),
            "_infrequent_indices": Items(Maybe(integers("")), name="n_features"),
            "_default_to_infrequent_mappings": Items(Maybe(integers("")), name="n_features"),
            "_drop_idx_after_grouping": Is((type(None),)),
            "_n_features_outs": Items(Integer(1), name="n_features"),
        },
        tables.check_one_hot,
    ),
    estimator_kind(
        TargetEncoder,
        {
            "categories_": Items(Labels("", are_sorted=False), name="n_features"),
            "encodings_": Items(floats("")),
            "target_mean_": _ANY,
            "target_type_": Text(("binary", "multiclass")),
            "classes_": Labels(),
            "_infrequent_enabled": Flag(),
        },
        tables.check_target_encoder,
    ),
    estimator_kind(HashingVectorizer, {}),
    estimator_kind(TfidfTransformer, {"idf_": _FINITE}),
    estimator_kind(TextEncoder, {"encoders_": Items(Is((Pipeline,)))}, tables.check_text_encoder),
    estimator_kind(
        ColumnTransformer,
        {
            "transformers_": Items(),
            "sparse_output_": Flag(),
            "output_indices_": Keyed(Is((slice,))),
            "_columns": Items(),
            "_transformer_to_input_indices": Keyed(Items(Integer(0, 2**31))),
            "_remainder": Is((tuple,)),
        },
        tables.check_column_transformer,
    ),
    estimator_kind(
        TableEncoder,
        {
            "column_types_": Keyed(Text(), keys=_ANY),
            "left_out_": Keyed(Text(), keys=_ANY),
            "encoder_": Is((ColumnTransformer,)),
        },
        tables.check_table_encoder,
    ),
]
