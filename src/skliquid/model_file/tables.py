"""Tables: what must hold of the encoders of a table, beyond the types of their attributes."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skliquid.column_encoders import calendar
from skliquid.model_file.fields import Unfit, inside
from skliquid.table_columns import as_text


def check_indicator(indicator: Any) -> None:
    """Raise unless the columns with missing values exist."""
    if np.any(indicator.features_ >= indicator.n_features_in_):
        raise Unfit("an indicator of columns that exist")


def check_imputer(imputer: Any) -> None:
    """Raise unless values and indicator are for the same columns."""
    indicator = imputer.indicator_
    if indicator is not None and indicator.n_features_in_ != imputer.n_features_in_:
        raise Unfit("an imputer with an indicator of its own columns")


def check_one_hot(encoder: Any) -> None:
    """Raise unless each category has a column, or shares that of the infrequent ones."""
    parts = (
        encoder.categories_,
        encoder._infrequent_indices,
        encoder._default_to_infrequent_mappings,
        encoder._n_features_outs,
    )
    for k, (categories, infrequent, mapping, n_out) in enumerate(zip(*parts, strict=True)):
        with inside(f"[{k}]"):
            check_categories(categories)
            _check_mapping(len(categories), infrequent, mapping, n_out)


def check_categories(categories: Any) -> None:
    """Raise if a category is there twice."""
    if not len(categories) or len(set(categories.tolist())) < len(categories):
        raise Unfit("categories, none of them twice")


def _check_mapping(n: int, infrequent: Any, mapping: Any, n_out: int) -> None:
    n_rare = 0 if infrequent is None else len(infrequent)
    expected = np.arange(n)
    if n_rare:
        if len(np.unique(infrequent)) < n_rare or infrequent.max() >= n:
            raise Unfit("infrequent categories that exist")
        is_rare = np.isin(expected, infrequent)
        expected = np.where(is_rare, n - n_rare, np.cumsum(~is_rare) - 1)
    is_same = mapping is None if infrequent is None else np.array_equal(mapping, expected)
    if not is_same or n_out != n - n_rare + bool(n_rare):
        raise Unfit("a column for each frequent category, and one for the others")


def check_target_encoder(encoder: Any) -> None:
    """Raise unless each category has an encoding."""
    n_classes = len(encoder.classes_)
    n_each = 1 if encoder.target_type_ == "binary" else n_classes
    if len(encoder.encodings_) != n_each * len(encoder.categories_):
        raise Unfit("a target encoder with encodings of all columns")
    for k, encoding in enumerate(encoder.encodings_):
        categories = encoder.categories_[k // n_each]
        check_categories(categories)
        if len(encoding) != len(categories):
            raise Unfit("a target encoder with an encoding of each category")
    n_means = np.size(encoder.target_mean_)
    if n_means != n_each or not np.isfinite(encoder.target_mean_).all():
        raise Unfit("a target encoder with a finite mean of each class")


def check_text_encoder(encoder: Any) -> None:
    """Raise unless each step takes what the one before gives."""
    for steps in encoder.encoders_:
        counts, weights, components, scaler = (step for _, step in steps.steps)
        is_one = counts.n_features == weights.n_features_in_ == components.n_features_in_
        if not is_one or len(components.components_) != scaler.n_features_in_:
            raise Unfit("a text encoder whose steps have matching widths")
        probed(steps, ["", "a text"])


def check_column_transformer(transformer: Any) -> None:
    """Raise unless each part takes columns that exist, and fills its columns of the output."""
    names = list(getattr(transformer, "feature_names_in_", []))
    end = 0
    parts = transformer.transformers_
    if [columns for _, _, columns in parts] != list(transformer._columns)[: len(parts)]:
        raise Unfit("a column transformer with the columns of its parts")
    for name, part, columns in parts:
        places = [names.index(c) if isinstance(c, str) else c for c in columns]
        if places != transformer._transformer_to_input_indices.get(name):
            raise Unfit(f"a column transformer with the columns of {name!r:.40}")
        if any(not 0 <= place < transformer.n_features_in_ for place in places):
            raise Unfit("a column transformer of columns that exist")
        own = transformer.output_indices_.get(name, slice(end, end))
        if not isinstance(part, str) and columns:
            width = probed(part, _probe(part, len(columns))).shape[1]
            if (own.start, own.stop, own.step) != (end, end + width, None):
                raise Unfit(f"a column transformer with the output of {name!r:.40}")
            end += width
    if not end:
        raise Unfit("a column transformer that gives columns")


def check_table_encoder(encoder: Any) -> None:
    """Raise unless its columns are those of its column transformer."""
    if len(encoder.column_types_) != encoder.encoder_.n_features_in_:
        raise Unfit("a table encoder with a type of each column")


def width_of(encoder: Any) -> int:
    """Return how many columns an encoder of tables gives."""
    return int(max(part.stop for part in encoder.output_indices_.values()))


def probed(transformer: Any, X: Any) -> Any:
    """Return a few rows through a transformer that was read, or raise :class:`Unfit`."""
    try:
        with np.errstate(all="ignore"):
            rows = transformer.transform(X)
    except Exception as error:  # whatever its attributes lead to
        raise Unfit(f"a transformer that works: {type(error).__name__}: {error}") from error
    shape: tuple[int, ...] = getattr(rows, "shape", ())
    if len(shape) != 2 or shape[0] != len(X) or not shape[1]:
        raise Unfit(f"a transformer of rows: {len(X)} became {shape}")
    return rows


def _probe(part: Any, n_columns: int) -> Any:
    """Return rows for a part of a table encoder: missing texts or dates, or zeros."""
    first = part.steps[0][1] if isinstance(part, Pipeline) else part
    function = getattr(first, "func", as_text)
    if function in (as_text, calendar):
        return np.full((1, n_columns), None)
    return np.zeros((1, n_columns))
