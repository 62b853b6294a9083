"""FittedPool: voters that were trained elsewhere and learn no more."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid.delegation.arrays import Voters
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import Array, Classes, storable
from skliquid.delegation.voter_pool import VoterPool
from skliquid.pools.predictions import PREDICTIONS, DispatchingPool

_MAX_DOUBLES = 2**25  # more probabilities are cached in single precision


@storable
@dataclass(frozen=True)
class FittedVoter:
    """A fitted classifier, and how to ask for its predictions."""

    estimator: Any
    labels: Classes  # its prediction for each class: the class, or a number for it
    features: Annotated[NDArray[np.intp], Array("features")] | None = (
        None  # that it sees; None means all
    )
    sees_numbers: bool = False  # whether it was fitted to arrays of floating-point numbers

    @property
    def converter(self) -> Callable[[Any], Any]:
        """A function that converts rows to the form that the estimator was fitted to.

        Rows stay as they are for an estimator that was fitted to a data frame, or to data without
        features, such as texts.
        """
        if self.sees_numbers:
            return _to_numbers
        has_names = hasattr(self.estimator, "feature_names_in_")
        was_fitted_to_array = not has_names and hasattr(self.estimator, "n_features_in_")
        return _to_array if was_fitted_to_array or self.features is not None else _identity

    def predict(self, method: str, X: Any) -> NDArray[Any]:
        """Return the votes, probabilities or margins for converted rows."""
        seen = X if self.features is None else X[:, self.features]
        found = PREDICTIONS[method](self.estimator, seen, self.labels)
        return found.astype(np.min_scalar_type(len(self.labels) - 1)) if method == "vote" else found


@dataclass(frozen=True)
class PredictionCache:
    """Predictions of fitted voters, in place of the rows: they never change.

    There is one array per method of the pool, with one row per sample and one column per voter.
    """

    by_method: dict[str, NDArray[Any]]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of voters."""
        return next(iter(self.by_method.values())).shape[:2]

    def __getitem__(self, positions: Any) -> "PredictionCache":
        return PredictionCache({name: own[positions] for name, own in self.by_method.items()})


class FittedPool(DispatchingPool):
    """Voters that predict but do not train: training costs nothing and changes nothing."""

    is_fitted = True

    def __init__(self, voters: Sequence[FittedVoter], names: Voters | None = None):
        numbers = range(len(voters)) if names is None else names.tolist()
        self._voters = dict(zip(numbers, voters, strict=True))

    def cache_predictions(self, methods: Sequence[str], voters: Voters, X: Any) -> PredictionCache:
        """Return the predictions of ``voters`` for ``X``, to be passed in place of ``X``."""
        columns, by_method = self._columns(voters).tolist(), {}
        for method in methods:
            for column, found in zip(columns, self._each(method, voters, X), strict=True):
                if method not in by_method:
                    shape = len(found), len(self._voters), *found.shape[1:]
                    is_large = math.prod(shape) > _MAX_DOUBLES and found.dtype.kind == "f"
                    by_method[method] = np.zeros(shape, np.float32 if is_large else found.dtype)
                by_method[method][:, column] = found
        return PredictionCache(by_method)

    def train(self, voters: Voters, rows: Rows) -> int:
        return 0

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        return 0

    def _predict(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        if isinstance(X, PredictionCache):
            found = X.by_method[method][:, self._columns(voters)]
            return np.ascontiguousarray(found.swapaxes(0, 1))
        return np.stack(list(self._each(method, voters, X)))

    def _each(self, method: str, voters: Voters, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions of each voter."""
        asked = self.voters(voters)
        converted = {convert: convert(X) for convert in {voter.converter for voter in asked}}
        for voter in asked:
            with warnings.catch_warnings():  # raised before, once for all voters
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                found = voter.predict(method, converted[voter.converter])
            yield found

    def voters(self, voters: Voters) -> list[FittedVoter]:
        return [self._voters[voter] for voter in voters.tolist()]

    def estimators(self, voters: Voters) -> list[Any]:
        return [voter.estimator for voter in self.voters(voters)]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
        return self

    def _columns(self, voters: Voters) -> Voters:
        return np.searchsorted(list(self._voters), voters)


def _identity(X: Any) -> Any:
    return X


def _to_array(X: Any, dtype: Any = None) -> Any:
    return check_array(X, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)


def _to_numbers(X: Any) -> Any:
    return _to_array(X, [np.float64, np.float32])
