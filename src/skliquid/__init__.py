"""Ensembles that prune themselves while they train, by liquid democracy, for scikit-learn.

Use ``LiquidEnsembleClassifier`` like any other classifier of scikit-learn:

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.model_selection import train_test_split
>>> from skliquid import LiquidEnsembleClassifier
>>> X, y = load_breast_cancer(return_X_y=True)
>>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
>>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)
>>> bool(ensemble.score(X_test, y_test) > 0.9)
True
>>> len(ensemble.estimators_)  # of 24 voters, 19 have delegated
5

Other ways in:

- ``LiquidEnsembleClassifier.for_streams()`` and ``partial_fit``: streams with concept drift;
- ``TableEncoder()``: data frames as numbers, for other classifiers;
- ``explain(ensemble, X)``: who decided each row, and the contribution of each column;
- ``skliquid.plotting`` and ``replay(ensemble, "replay.html")``: pictures of what happened;
- ``prune(forest, X, y)``: a smaller ensemble from a fitted one;
- ``skliquid.voters``: small forests and boosted trees, with ``partial_fit``;
- ``train_on("data.parquet", target="label")``: files larger than memory (extra ``stream``);
- ``save(ensemble, "model.skliquid")`` and ``load``: files of data, without code (extra ``files``);
- ``to_onnx(ensemble)``: predictions without Python (extra ``onnx``);
- ``DaskLiquidEnsembleClassifier``: for Dask DataFrames and Arrays (extra ``dask``).

Where to read:

- ``help(skliquid.LiquidEnsembleClassifier)``: every parameter;
- ``skliquid.presets``: every default, and why it is so;
- ``skliquid.mechanisms``: who delegates, to whom, and how many at a time;
- ``skliquid.pruning_methods``: classical ways to prune, beside delegation;
- ``skliquid.datasets``: the paper's datasets; ``skliquid.theory``: the paper's formulas;
- ``docs/how_it_is_built.md`` of the repository: the map of the source.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__version__ = "0.1.0"

_SUBMODULES = (
    "datasets",
    "diversity",
    "mechanisms",
    "plotting",
    "pools",
    "presets",
    "pruning_methods",
    "streams",
    "theory",
    "voters",
)
_MODULES = {
    "CompetenceMeasure": "skliquid.delegation.competence",
    "DaskLiquidEnsembleClassifier": "skliquid.dask",
    "DelegationGraph": "skliquid.delegation.graph",
    "Diversity": "skliquid.diversity",
    "LiquidEnsembleClassifier": "skliquid.ensemble",
    "Mechanism": "skliquid.mechanisms",
    "ModelFileError": "skliquid.files.container",
    "PrunedEnsemble": "skliquid.pruned",
    "TrainingCost": "skliquid.delegation.record",
    "TrainingRecord": "skliquid.delegation.record",
    "as_mechanism": "skliquid.mechanisms",
    "front": "skliquid.pareto",
    "explain": "skliquid.explanation",
    "increments_from": "skliquid.streams",
    "load": "skliquid.files.saving",
    "prune": "skliquid.pruned",
    "replay": "skliquid.plotting.replay",
    "revocable": "skliquid.mechanisms",
    "save": "skliquid.files.saving",
    "TableEncoder": "skliquid.tables.table_encoder",
    "to_onnx": "skliquid.onnx",
    "train_on": "skliquid.streams",
} | {name: f"skliquid.{name}" for name in _SUBMODULES}
"""Where each public name is imported from when it is used; __init__.pyi tells type checkers."""

_PACKAGES_OF_EXTRAS = {
    "skliquid.files.saving": ("msgspec", "safetensors"),
    "skliquid.onnx": ("onnx",),
    "skliquid.plotting": ("matplotlib",),
    "skliquid.streams": ("duckdb", "pyarrow"),
}


def _is_installed(module: str) -> bool:
    return all(find_spec(package) for package in _PACKAGES_OF_EXTRAS.get(module, ()))


# Star imports, help() and completion load every name, so names of missing extras are left out.
__all__ = [name for name in sorted(_MODULES) if _is_installed(_MODULES[name])]


def __dir__() -> list[str]:
    return ["__version__", *__all__]


def __getattr__(name: str) -> Any:
    """Import a public name when it is used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_MODULES[name])
    return module if name in _SUBMODULES else getattr(module, name)
