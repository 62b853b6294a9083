"""How model files hold what training on a file returns."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.model_file.fields import (
    Integer,
    Is,
    Items,
    Keyed,
    Labels,
    Maybe,
    Text,
    Unfit,
    integers,
)
from skliquid.model_file.kinds import plain_kind
from skliquid.model_file.tables import width_of
from skliquid.streams.column_types import ARROW_TYPES
from skliquid.streams.encoding import Encoding
from skliquid.streams.model import StreamedModel

_COUNT, _TYPES = Integer(), Keyed(Text())


def _encoding(column_types: dict[str, Any], encoder: Any, n_features: int) -> Encoding:
    parts = [columns for _, _, columns in encoder.transformers]
    is_known = [column_types.get(name) in ARROW_TYPES for columns in parts for name in columns]
    if len(parts) != 2 or len(is_known) != len(column_types) or not all(is_known):
        raise Unfit("an encoding of numbers and categories, whose types are known")
    if [columns for _, _, columns in encoder.transformers_[:2]] != parts:
        raise Unfit("an encoding that was fitted to its columns")
    if width_of(encoder) != n_features:
        raise Unfit(f"an encoding with {n_features} features: got {width_of(encoder)}")
    return Encoding(column_types, encoder, n_features)


def _model(**fields: Any) -> StreamedModel:
    model = StreamedModel(**fields)
    if model.ensemble.__sklearn_is_fitted__():
        is_same = np.array_equal(model.ensemble.classes_, model.classes)
        if not is_same or model.ensemble.n_features_in_ != model.encoding.n_features:
            raise Unfit("a model with an ensemble of its classes and features")
    return model


KINDS = [
    plain_kind(
        Encoding,
        _encoding,
        column_types=_TYPES,
        encoder=Is((ColumnTransformer,)),
        n_features=Integer(1),
    ),
    plain_kind(
        StreamedModel,
        _model,
        ensemble=Is((LiquidEnsembleClassifier,)),
        encoding=Is((Encoding,)),
        classes=Labels(),
        target=Text(),
        target_type=Text(("number", "text", "boolean")),
        chosen_types=_TYPES,
        left_out=Items(Text()),
        settings=_TYPES,
        n_rows=_COUNT,
        n_scored=_COUNT,
        n_correct=_COUNT,
        confusion=Maybe(integers("n_classes", "n_classes")),
    ),
]
