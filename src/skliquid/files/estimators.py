"""Estimators: transformers and voters as parameters and attributes, and checks of these."""

from collections.abc import Callable, Iterable
from functools import partial
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
from skliquid.delegation.class_weights import ClassCounts
from skliquid.diversity import Diversity, FourierFeatures
from skliquid.diversity.standardizer import Standardizer
from skliquid.files import table_encoders
from skliquid.files.fields import (
    LARGEST,
    Anything,
    Boolean,
    Check,
    DictOf,
    InstanceOf,
    Integer,
    InvalidField,
    Labels,
    ListOf,
    Maybe,
    Number,
    Text,
    floats,
    integers,
    require,
)
from skliquid.files.values import StoredType, stored_type
from skliquid.tables.column_encoders import TextEncoder
from skliquid.tables.tabular import TableEncoder
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier
from skliquid.voters.categories import CategoryCoder
from skliquid.voters.grown_trees import IS_LEAF, GrownTrees
from skliquid.voters.recent_rows import RecentRows

_SEEN: dict[str, Check] = {
    "n_features_in_": Integer(1, 2**31 - 1, name="n_features"),
    "feature_names_in_": Labels("n_features", are_sorted=False),
    "_sklearn_output_config": DictOf(Text()),
}
"""Attributes that any estimator may have."""

_NOT_STORED = {"_stop_words_id"}  # an address in memory
_ANY, _FINITE, _COMPONENTS = Anything(), floats("n_features"), floats("n_components")
_MAX_POLYNOMIAL_COLUMNS = 10_000
_POLYNOMIAL = ("_min_degree", "_max_degree", "n_output_features_", "_n_out_full")


def _estimator_type(
    cls: type,
    check: Callable[[Any], None] | None = None,
    optional: Iterable[str] = (),
    /,
    **fitted: Check,
) -> StoredType:
    """Return the stored type of an estimator: its parameters, and attributes if it is fitted.

    A fitted estimator has all attributes of ``fitted`` except those in ``optional``.
    """
    attributes = _SEEN | fitted

    def to_fields(estimator: Any) -> dict[str, Any]:
        params = estimator.get_params(deep=False)
        names = sorted(vars(estimator).keys() - params - _NOT_STORED)
        return {"params": params, **{name: vars(estimator)[name] for name in names}}

    def from_fields(params: dict[str, Any], **found: Any) -> Any:
        estimator = create_estimator(cls, params)
        vars(estimator).update(found)
        if found.keys() & fitted.keys() or not fitted:
            if missing := fitted.keys() - found.keys() - set(optional):
                raise InvalidField(f"a {cls.__name__} with the attribute {min(missing)}")
            if check is not None:
                check(estimator)
        return estimator

    fields: dict[str, Check] = {"params": DictOf(), **attributes}
    return StoredType(cls.__name__, cls, fields, to_fields, from_fields, frozenset(attributes))


def _unfitted_type(cls: type) -> StoredType:
    """Return the stored type of an estimator without attributes."""
    create = partial(create_estimator, cls)
    return stored_type(
        cls, create, lambda one: {"params": one.get_params(deep=False)}, params=DictOf()
    )


def create_estimator(cls: Any, params: dict[str, Any]) -> Any:
    """Return an estimator with these parameters, after checking that it accepts them."""
    if unknown := params.keys() - set(cls._get_param_names()):
        raise InvalidField(f"a {cls.__name__} without the parameter {min(unknown)!r:.60}")
    estimator = cls(**params)
    if hasattr(estimator, "check_parameters"):
        estimator.check_parameters()
    elif hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()
    return estimator


def _check_pipeline(pipeline: Pipeline) -> None:
    are_named = all(isinstance(step, tuple) and len(step) == 2 for step in pipeline.steps)
    require(are_named, "a pipeline of named steps")
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    is_valid = steps and all(hasattr(step, "transform") for step in steps[:-1])
    require(is_valid, "a pipeline of transformers; the last step may be a classifier")
    names = {name for name, _ in pipeline.steps if isinstance(name, str)}
    require(len(names) == len(pipeline.steps), "a pipeline of steps with different names")


def _check_scaler(scaler: Any) -> None:
    is_valid = scaler.scale_ is None or not np.any(np.abs(scaler.scale_) < 1 / LARGEST)
    require(is_valid, "a scaler by numbers that are not zero")


def _check_polynomial(features: PolynomialFeatures) -> None:
    if features.n_features_in_ > _MAX_POLYNOMIAL_COLUMNS:
        raise InvalidField(f"polynomial features of at most {_MAX_POLYNOMIAL_COLUMNS} columns")
    again = PolynomialFeatures(**features.get_params()).fit(np.zeros((1, features.n_features_in_)))
    is_same = all(getattr(again, name) == getattr(features, name) for name in _POLYNOMIAL)
    require(is_same, "polynomial features that agree with their parameters")


def _check_sampler(features: FourierFeatures) -> None:
    is_same = features.sampler_.n_features_in_ == features.n_features_in_
    require(is_same, "Fourier features of as many columns as their sampler")


def _check_tree_voter(voter: Any) -> None:
    shape = voter.trees_.n_outputs, voter.trees_.n_columns
    expected = max(voter.n_outputs, 1), voter.n_features_in_
    require(shape == expected, "trees for these classes and columns")
    check_leaves(voter)


def check_leaves(voter: Any) -> None:
    """Raise unless the leaves of a voter's trees give probabilities."""
    if isinstance(voter, BoostedTreesClassifier):
        is_valid = voter.base_scores_.shape == (voter.n_outputs,) and not voter.trees_.is_sparse
        require(is_valid, "boosted trees with as many base scores as outputs")
        return
    for tree in voter.trees_.trees:
        nodes = np.frombuffer(tree[0], dtype=native.NODE)
        values = np.frombuffer(tree[1], dtype=np.float32)
        if voter.trees_.is_sparse:
            leaves = nodes[nodes["feature"] == IS_LEAF]
            values = values[1::2]
            sums = np.append(0.0, np.cumsum(values, dtype=np.float64))
            first = leaves["next"].astype(np.intp)
            totals = sums[first + leaves["cut"].astype(np.intp)] - sums[first]
        else:
            totals = values.reshape(-1, voter.trees_.n_outputs).sum(axis=1)
        require(values.min() >= 0 and totals.min() > 0, "a forest whose leaves hold shares")


_TREES: dict[str, Check] = {
    "classes_": Labels(),
    "n_grown_": Integer(),
    "n_seen_": Integer(),
    "n_visits_": Integer(),
    "trees_": InstanceOf(GrownTrees),
    "base_scores_": floats("n_outputs"),
    "_seed": Integer(0, 2**63),
    "_turns": Number(0),
    "_recent": InstanceOf(RecentRows),
    "_counts": InstanceOf(ClassCounts),
    "_coder": Maybe(InstanceOf(CategoryCoder)),
}
_OPTIONAL = ("base_scores_", "_coder")
_SCALED: dict[str, Check] = {"scale_": Maybe(_FINITE), "n_samples_seen_": _ANY}
_DECOMPOSED: dict[str, Check] = {
    "components_": floats("n_components", "n_features"),
    "explained_variance_": _COMPONENTS,
    "explained_variance_ratio_": floats("n_components", may_be_nan=True),
    "singular_values_": _COMPONENTS,
}

ESTIMATOR_TYPES = [
    _unfitted_type(Diversity),
    # voters; the state of linear ones is that of their pool
    _unfitted_type(SGDClassifier),
    _unfitted_type(Perceptron),
    _estimator_type(RandomizedForestClassifier, _check_tree_voter, _OPTIONAL, **_TREES),
    _estimator_type(BoostedTreesClassifier, _check_tree_voter, _OPTIONAL, **_TREES),
    # feature maps
    _estimator_type(Standardizer, _check_scaler, mean_=_FINITE, scale_=_FINITE),
    _estimator_type(
        FourierFeatures, _check_sampler, sampler_=InstanceOf(RBFSampler), _n_features_out=_ANY
    ),
    _estimator_type(
        RBFSampler,
        random_weights_=floats("n_features", "n_components"),
        random_offset_=_COMPONENTS,
        _n_features_out=Integer(1, name="n_components"),
        _gamma=_ANY,
    ),
    _estimator_type(
        Nystroem,
        components_=floats("n_components", "n_features"),
        component_indices_=integers("n_components"),
        normalization_=floats("n_components", "n_components"),
        _n_features_out=Integer(1, name="n_components"),
    ),
    _estimator_type(
        StandardScaler, _check_scaler, **_SCALED, mean_=Maybe(_FINITE), var_=Maybe(_FINITE)
    ),
    _estimator_type(
        MinMaxScaler,
        **_SCALED,
        **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), _FINITE),
    ),
    _estimator_type(MaxAbsScaler, _check_scaler, **_SCALED, max_abs_=_FINITE),
    _estimator_type(RobustScaler, _check_scaler, scale_=Maybe(_FINITE), center_=Maybe(_FINITE)),
    _estimator_type(Normalizer),
    _estimator_type(
        QuantileTransformer,
        n_quantiles_=Integer(1, name="n_quantiles"),
        quantiles_=floats("n_quantiles", "n_features"),
        references_=floats("n_quantiles"),
    ),
    _estimator_type(
        PolynomialFeatures, _check_polynomial, **dict.fromkeys(_POLYNOMIAL, Integer(0, 2**31))
    ),
    _estimator_type(
        PCA,
        **_DECOMPOSED,
        mean_=_FINITE,
        n_components_=Integer(1, name="n_components"),
        noise_variance_=_ANY,
        n_samples_=Integer(1),
        _fit_svd_solver=Text(),
    ),
    _estimator_type(TruncatedSVD, **_DECOMPOSED),
    # tables
    _estimator_type(Pipeline, _check_pipeline),
    _estimator_type(FunctionTransformer),
    _estimator_type(
        SimpleImputer,
        table_encoders.check_imputer,
        ("_fill_dtype",),  # since scikit-learn 1.7
        statistics_=floats("n_features", may_be_nan=True),
        indicator_=Maybe(InstanceOf(MissingIndicator)),
        _fit_dtype=InstanceOf(np.dtype),
        _fill_dtype=InstanceOf(np.dtype),
    ),
    _estimator_type(
        MissingIndicator,
        table_encoders.check_indicator,
        features_=integers("n_indicated"),
        _n_features=Integer(1, name="n_features"),
        _precomputed=Boolean(),
    ),
    _estimator_type(VarianceThreshold, variances_=floats("n_features", low=0)),
    _estimator_type(
        OneHotEncoder,
        table_encoders.check_one_hot,
        categories_=ListOf(Labels("", are_sorted=False), name="n_features"),
        drop_idx_=InstanceOf(type(None)),
        _infrequent_enabled=Boolean(),
        _infrequent_indices=ListOf(Maybe(integers("")), name="n_features"),
        _default_to_infrequent_mappings=ListOf(Maybe(integers("")), name="n_features"),
        _drop_idx_after_grouping=InstanceOf(type(None)),
        _n_features_outs=ListOf(Integer(1), name="n_features"),
    ),
    _estimator_type(
        TargetEncoder,
        table_encoders.check_target_encoder,
        categories_=ListOf(Labels("", are_sorted=False), name="n_features"),
        encodings_=ListOf(floats("")),
        target_mean_=_ANY,
        target_type_=Text(("binary", "multiclass")),
        classes_=Labels(),
        _infrequent_enabled=Boolean(),
    ),
    _estimator_type(HashingVectorizer),
    _estimator_type(TfidfTransformer, idf_=_FINITE),
    _estimator_type(
        TextEncoder, table_encoders.check_text_encoder, encoders_=ListOf(InstanceOf(Pipeline))
    ),
    _estimator_type(
        ColumnTransformer,
        table_encoders.check_column_transformer,
        transformers_=ListOf(),
        sparse_output_=Boolean(),
        output_indices_=DictOf(InstanceOf(slice)),
        _columns=ListOf(),
        _transformer_to_input_indices=DictOf(ListOf(Integer(0, 2**31))),
        _remainder=InstanceOf(tuple),
    ),
    _estimator_type(
        TableEncoder,
        table_encoders.check_table_encoder,
        column_types_=DictOf(Text(), keys=_ANY),
        left_out_=DictOf(Text(), keys=_ANY),
        encoder_=InstanceOf(ColumnTransformer),
    ),
]
