"""Foreign parts: objects of numpy, SciPy and scikit-learn that models consist of.

They cannot declare themselves. Files hold those listed here. Parameters that have an effect outside
of the model, such as a cache on disk or a number of processes, must have their defaults.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy import stats
from sklearn import preprocessing
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Classes, Count, Positive, Range, require
from skliquid.files.arrays import LARGEST
from skliquid.files.descriptions import Description, describe_estimator

_MAX_COLUMNS_TRIED, _MAX_STEPS = 2**16, 100

_DEFAULTS_ONLY = {"inv_kw_args", "inverse_func", "kernel_params", "kw_args", "memory", "n_jobs"}
_Bit = Annotated[int, Range(0, 1)]
_Number = int | float


def _floats(*axes: str, **rules: Any) -> Any:
    return Annotated[Floats, Array(*axes, **rules)]


def _foreign(
    cls: type, to_fields: Callable[[Any], Any], from_fields: Callable[..., Any], **fields: Any
) -> Description:
    return Description(cls.__name__, cls, fields, {}, to_fields, from_fields)


# Random numbers


def _generator_fields(rng: np.random.Generator) -> dict[str, Any]:
    state = rng.bit_generator.state
    require(state["bit_generator"] == "PCG64", "a generator of the type PCG64")
    return {**state["state"], **{name: state[name] for name in ("has_uint32", "uinteger")}}


def _generator(state: int, inc: int, **rest: int) -> np.random.Generator:
    bits = np.random.PCG64(0)
    whole: Any = {"bit_generator": "PCG64", "state": {"state": state, "inc": inc | 1}, **rest}
    bits.state = whole
    return np.random.Generator(bits)


def _random_state_fields(random_state: np.random.RandomState) -> dict[str, Any]:
    _, key, position, has_gauss, gauss = random_state.get_state(legacy=True)
    return {"key": key, "position": position, "has_gauss": has_gauss, "gauss": gauss}


def _random_state(**state: Any) -> np.random.RandomState:
    random_state = np.random.RandomState(0)
    random_state.set_state(("MT19937", *state.values()))
    return random_state


def _distribution_fields(distribution: Any) -> dict[str, Any]:
    name = distribution.dist.name
    is_known = type(getattr(stats, name, None)) is type(distribution.dist)
    require(is_known, f"a distribution of scipy.stats: got {name!r}")
    return {"distribution": name, "args": list(distribution.args), "kwds": distribution.kwds}


def _distribution(distribution: str, args: Any, kwds: Any) -> Any:
    family: Any = getattr(stats, distribution, None)
    is_known = isinstance(family, stats.rv_continuous | stats.rv_discrete)
    require(is_known, f"a distribution of scipy.stats: got {distribution!r:.40}")
    return family(*args, **kwds)


def _frozen_distribution(cls: type) -> Description:
    types = {"distribution": str, "args": list[_Number], "kwds": dict[str, _Number]}
    return _foreign(cls, _distribution_fields, _distribution, **types)


# Sparse rows


def _sparse(cls: Any) -> Description:
    def to_fields(matrix: Any) -> dict[str, Any]:
        arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        return {**arrays, "shape": tuple(map(int, matrix.shape))}

    def from_fields(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
        require(len(indptr) == shape[0] + 1, "arrays with matching lengths")
        matrix = cls((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    size = Annotated[int, Range(0, 2**31)]
    return _foreign(
        cls,
        to_fields,
        from_fields,
        data=_floats("n_stored", may_be_nan=True),
        indices=Annotated[NDArray[np.int32], Array("n_stored")],
        indptr=Annotated[NDArray[np.int32], Array("")],
        shape=tuple[size, size],
    )


# Transformers and pipelines


def _check_scaler(scaler: Any) -> None:
    is_valid = scaler.scale_ is None or not np.any(np.abs(scaler.scale_) < 1 / LARGEST)
    require(is_valid, "scales that are not zero")


def _check_pipeline(pipeline: Pipeline) -> None:
    steps = [step for _, step in pipeline.steps]
    require(len({name for name, _ in pipeline.steps}) == len(steps), "steps with different names")
    n_steps = len(steps) if len(steps) > _MAX_STEPS else _n_steps(pipeline)
    require(0 < n_steps <= _MAX_STEPS, f"1 to {_MAX_STEPS} steps, with those of inner pipelines")
    are_transformers = all(hasattr(step, "transform") for step in steps[:-1])
    require(are_transformers, "transformers before the last step")
    widths = [step.n_features_in_ for step in steps if hasattr(step, "n_features_in_")]
    if widths and widths[0] <= _MAX_COLUMNS_TRIED:
        _try_steps(steps, _two_rows(widths[0]))


def _n_steps(step: Any) -> int:
    inner = step.steps if isinstance(step, Pipeline) else []
    return 1 + sum(_n_steps(one) for _, one in inner)


def _two_rows(width: int) -> Floats:
    return np.repeat([[0.0], [1.0]], width, axis=1)


def _try_steps(steps: list[Any], rows: Any) -> None:
    """Raise unless the steps fit each other, as rows of zeros and of ones show."""
    for step in steps[:-1]:
        width = getattr(step, "n_features_out_", None)
        rows = step.transform(rows) if width is None else _two_rows(width)
        require(rows.ndim == 2 and rows.shape[0] == 2, "transformers that return one row for one")
    if hasattr(steps[-1], "predict"):
        steps[-1].predict(rows)  # raises unless it is fitted, too


def _imputer_fields(imputer: Any) -> dict[str, Any]:
    params = imputer.get_params()
    require(np.isnan(params["missing_values"]), "NaN for missing values")
    fields = {name: params[name] for name in _IMPUTER if name in params}
    if hasattr(imputer, "statistics_"):
        places = [] if imputer.indicator_ is None else imputer.indicator_.features_
        fields["has_missing"] = np.isin(np.arange(imputer.n_features_in_), places)
        names = ("statistics_", "feature_names_in_")
        fields |= {name: vars(imputer)[name] for name in names if name in vars(imputer)}
    return fields


def _imputer(statistics_: Any = None, has_missing: Any = None, **params: Any) -> SimpleImputer:
    names = {k: params.pop(k) for k in ("feature_names_in_",) if k in params}
    imputer = SimpleImputer(**params)
    if statistics_ is not None and has_missing is not None:
        imputer.fit(np.zeros((1, 1)))  # which takes the same time and memory whatever the width
        imputer.statistics_, imputer.n_features_in_ = statistics_, len(statistics_)
        if imputer.indicator_ is not None:
            seen = {"features_": np.flatnonzero(has_missing), "_n_features": len(has_missing)}
            vars(imputer.indicator_).update(seen)
        vars(imputer).update(names)
    return imputer


_IMPUTER: dict[str, Any] = {
    "strategy": Literal["mean", "median", "most_frequent", "constant"],
    "fill_value": int | float | None,
    "add_indicator": bool,
    "keep_empty_features": bool,
    "statistics_": _floats("n_features", may_be_nan=True),
    "has_missing": Annotated[NDArray[np.bool_], Array("n_features")],
    "feature_names_in_": Annotated[NDArray[Any], Array("n_features")],
}


def _estimator(
    cls: Any, check: Callable[[Any], Any] = lambda _: None, **fitted: Any
) -> Description:
    """Return the description of an estimator, whose parameters scikit-learn checks."""
    params = [name for name in cls._get_param_names() if name not in _DEFAULTS_ONLY]
    return describe_estimator(cls, dict.fromkeys(params, Any), fitted, check=check)


def _scaler(cls: Any, *names: str, **others: Any) -> Description:
    fitted = dict.fromkeys(names, _floats("n_features") | None)
    return _estimator(cls, _check_scaler, **fitted, **others)


_N_JOBS: Any = Literal[-1] | Count | None
_INPUTS = {
    "n_features_in_": Positive,
    "feature_names_in_": Annotated[NDArray[Any], Array("")],
}


def _voter(cls: Any, learned: Mapping[str, Any], check: Callable[[Any], Any]) -> Description:
    """Return the description of a voter: its parameters, and what it predicts with if fitted.

    In training, what linear voters have learned is the state of their pool.
    """
    params = dict.fromkeys(cls._get_param_names(), Any)
    if "n_jobs" in params:
        params["n_jobs"] = _N_JOBS
    described = describe_estimator(cls, params, None)
    types = {**_INPUTS, **learned}

    def to_fields(voter: Any) -> dict[str, Any]:
        fitted = {name: vars(voter)[name] for name in types if name in vars(voter)}
        return {**described.to_fields(voter), **fitted}

    def from_fields(**fields: Any) -> Any:
        fitted = {name: fields.pop(name) for name in types if name in fields}
        voter = described.from_fields(**fields)
        vars(voter).update(fitted)
        if fitted:
            require(fitted.keys() >= learned.keys(), "all that it has learned")
            check(voter)
        return voter

    fields = {**described.fields, **types}
    defaults = {**described.defaults, **dict.fromkeys(types, ...)}
    return Description(cls.__name__, cls, fields, defaults, to_fields, from_fields)


# Voters that were fitted elsewhere

_LINEAR: dict[str, Any] = {
    "coef_": _floats("n_separators", "n_features"),
    "intercept_": _floats("n_separators"),
    "classes_": Classes,
}


def _check_linear(voter: Any) -> None:
    n_classes, shape = len(voter.classes_), voter.coef_.shape
    require(n_classes >= 2, "two classes or more")
    require(shape[0] == (n_classes if n_classes > 2 else 1), "a separator per class, one for two")
    require(shape[1] == voter.n_features_in_, "a coefficient for each feature")


_Tree: Any = type(DecisionTreeClassifier().fit([[0.0]], [0]).tree_)
_NODE: Any = DecisionTreeClassifier().fit([[0.0]], [0]).tree_.__getstate__()["nodes"].dtype


def _tree_fields(tree: Any) -> dict[str, Any]:
    state = tree.__getstate__()
    fields = {name: np.ascontiguousarray(state["nodes"][name]) for name in _NODE.names}
    is_infinite = np.isinf(fields["threshold"])  # only missing values go right
    return {
        **fields,
        "threshold": np.where(is_infinite, np.nan, fields["threshold"]),
        "n_features": int(tree.n_features),
        "n_classes": int(tree.n_classes[0]),
        "max_depth": int(state["max_depth"]),
        "values": state["values"][:, 0],
    }


def _tree(n_features: int, n_classes: int, max_depth: int, values: Floats, **fields: Any) -> Any:
    left, right, n_nodes = fields["left_child"], fields["right_child"], len(values)
    numbers, is_leaf = np.arange(n_nodes), left == -1
    require(n_nodes and values.shape[1] == n_classes, "nodes with a value for each class")
    require(np.allclose(values.sum(axis=1), 1), "nodes with shares of classes")
    is_valid = np.all(right[is_leaf] == -1)
    for child in (left[~is_leaf], right[~is_leaf]):
        is_valid &= np.all((child > numbers[~is_leaf]) & (child < n_nodes))
    require(is_valid, "nodes whose children come after them")
    feature = fields["feature"][~is_leaf]
    require(np.all((feature >= 0) & (feature < n_features)), "splits of features that exist")
    nodes = np.empty(n_nodes, dtype=_NODE)
    for name in _NODE.names:
        nodes[name] = fields[name]
    nodes["threshold"][np.isnan(nodes["threshold"])] = np.inf
    tree = _Tree(n_features, np.array([n_classes], dtype=np.intp), 1)
    stacked = np.ascontiguousarray(values[:, None, :])
    state = {"max_depth": max_depth, "node_count": n_nodes, "nodes": nodes, "values": stacked}
    tree.__setstate__(state)
    return tree


def _node(dtype: Any) -> Any:
    rules: dict[str, Any] = {"i": {"low": -2}, "f": {"may_be_nan": True}}
    element: Any = dtype.type
    return Annotated[NDArray[element], Array("n_nodes", **rules.get(dtype.kind, {}))]


_TREE = _foreign(
    _Tree,
    _tree_fields,
    _tree,
    n_features=Positive,
    n_classes=Positive,
    max_depth=Count,
    values=_floats("n_nodes", "n_classes", low=0),
    **{name: _node(_NODE[name]) for name in _NODE.names},
)

_TREE_VOTER: dict[str, Any] = {
    "classes_": Classes,
    "n_classes_": Any,
    "n_outputs_": Literal[1],
    "max_features_": Positive,
    "tree_": Any,
}


def _check_tree_voter(voter: Any) -> None:
    require(isinstance(voter.tree_, _Tree), "a tree")
    n_classes = int(voter.tree_.n_classes[0])
    require(len(voter.classes_) == n_classes, "a tree for its classes")
    require(voter.tree_.n_features == voter.n_features_in_, "a tree for its features")
    voter.n_classes_ = np.int64(n_classes)


FOREIGN = [
    _foreign(
        np.random.Generator,
        _generator_fields,
        _generator,
        state=Annotated[int, Range(0)],
        inc=Annotated[int, Range(0)],
        has_uint32=_Bit,
        uinteger=Annotated[int, Range(0, 2**32 - 1)],
    ),
    _foreign(
        np.random.RandomState,
        _random_state_fields,
        _random_state,
        key=Annotated[NDArray[np.uint32], Array(624)],
        position=Annotated[int, Range(0, 624)],
        has_gauss=_Bit,
        gauss=float,
    ),
    _frozen_distribution(type(stats.norm())),
    _frozen_distribution(type(stats.poisson(1))),
    _sparse(scipy.sparse.csr_matrix),
    _sparse(scipy.sparse.csr_array),
    *(_voter(cls, _LINEAR, _check_linear) for cls in (SGDClassifier, Perceptron)),
    _voter(LogisticRegression, _LINEAR, _check_linear),
    _TREE,
    *(
        _voter(cls, _TREE_VOTER, _check_tree_voter)
        for cls in (DecisionTreeClassifier, ExtraTreeClassifier)
    ),
    describe_estimator(Pipeline, {"steps": list[tuple[str, Any]]}, {}, check=_check_pipeline),
    _estimator(preprocessing.FunctionTransformer),
    _scaler(preprocessing.StandardScaler, "mean_", "var_", "scale_", n_samples_seen_=Any),
    _scaler(
        preprocessing.MinMaxScaler,
        *("scale_", "min_", "data_min_", "data_max_", "data_range_"),
        n_samples_seen_=Any,
    ),
    _scaler(preprocessing.MaxAbsScaler, "scale_", "max_abs_", n_samples_seen_=Any),
    _scaler(preprocessing.RobustScaler, "center_", "scale_"),
    _estimator(
        RBFSampler,
        random_weights_=_floats("n_features", "n_components"),
        random_offset_=_floats("n_components"),
        _n_features_out=Positive,
        _gamma=float,
    ),
    _estimator(
        Nystroem,
        components_=_floats("n_components", "n_features"),
        component_indices_=Annotated[NDArray[np.intp], Array("n_components")],
        normalization_=_floats("n_components", "n_components"),
        _n_features_out=Positive,
    ),
    _estimator(
        PCA,
        components_=_floats("n_components", "n_features"),
        mean_=_floats("n_features"),
        explained_variance_=_floats("n_components", low=0),
        explained_variance_ratio_=_floats("n_components", may_be_nan=True),
        singular_values_=_floats("n_components"),
        n_components_=Positive,
        n_samples_=Positive,
        noise_variance_=Any,
        _fit_svd_solver=str,
    ),
    Description(
        "SimpleImputer",
        SimpleImputer,
        _IMPUTER,
        dict.fromkeys(_IMPUTER, ...),
        _imputer_fields,
        _imputer,
    ),
]
