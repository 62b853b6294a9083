"""Table encoders: checks that their attributes agree with each other."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skliquid.files.fields import InvalidField, location, require
from skliquid.tables.column_encoders import calendar
from skliquid.tables.table_columns import as_text


def check_indicator(indicator: Any) -> None:
    """Raise unless the columns with missing values exist."""
    exist = np.all(indicator.features_ < indicator.n_features_in_)
    require(exist, "an indicator of columns that exist")


def check_imputer(imputer: Any) -> None:
    """Raise unless values and indicator are for the same columns."""
    indicator = imputer.indicator_
    is_own = indicator is None or indicator.n_features_in_ == imputer.n_features_in_
    require(is_own, "an imputer with an indicator of its own columns")


def check_one_hot(encoder: Any) -> None:
    """Raise unless each category has a column, or shares that of the infrequent ones."""
    parts = (
        encoder.categories_,
        encoder._infrequent_indices,
        encoder._default_to_infrequent_mappings,
        encoder._n_features_outs,
    )
    for k, (categories, infrequent, mapping, n_out) in enumerate(zip(*parts, strict=True)):
        with location(f"[{k}]"):
            _check_categories(categories)
            _check_mapping(len(categories), infrequent, mapping, n_out)


def _check_categories(categories: Any) -> None:
    is_valid = 0 < len(categories) == len(set(categories.tolist()))
    require(is_valid, "categories, none of them twice")


def _check_mapping(n: int, infrequent: Any, mapping: Any, n_out: int) -> None:
    n_rare = 0 if infrequent is None else len(infrequent)
    expected = np.arange(n)
    if n_rare:
        exist = len(np.unique(infrequent)) == n_rare and infrequent.max() < n
        require(exist, "infrequent categories that exist")
        is_rare = np.isin(expected, infrequent)
        expected = np.where(is_rare, n - n_rare, np.cumsum(~is_rare) - 1)
    is_same = mapping is None if infrequent is None else np.array_equal(mapping, expected)
    is_valid = is_same and n_out == n - n_rare + bool(n_rare)
    require(is_valid, "a column for each frequent category, and one for the others")


def check_target_encoder(encoder: Any) -> None:
    """Raise unless each category has an encoding."""
    n_outputs = 1 if encoder.target_type_ == "binary" else len(encoder.classes_)
    is_complete = len(encoder.encodings_) == n_outputs * len(encoder.categories_)
    require(is_complete, "a target encoder with encodings of all columns")
    for k, encoding in enumerate(encoder.encodings_):
        categories = encoder.categories_[k // n_outputs]
        _check_categories(categories)
        is_complete = len(encoding) == len(categories)
        require(is_complete, "a target encoder with an encoding of each category")
    mean = encoder.target_mean_
    is_valid = np.size(mean) == n_outputs and np.isfinite(mean).all()
    require(is_valid, "a target encoder with a finite mean of each class")


def check_text_encoder(encoder: Any) -> None:
    """Raise unless the steps have matching widths and transform texts."""
    for steps in encoder.encoders_:
        counts, weights, components, scaler = (step for _, step in steps.steps)
        is_valid = counts.n_features == weights.n_features_in_ == components.n_features_in_
        is_valid = is_valid and len(components.components_) == scaler.n_features_in_
        require(is_valid, "a text encoder whose steps have matching widths")
        try_transform(steps.transform, ["", "a text"])


def check_column_transformer(transformer: Any) -> None:
    """Raise unless each part takes columns that exist, and fills its columns of the output."""
    names = list(getattr(transformer, "feature_names_in_", []))
    end = 0
    parts = transformer.transformers_
    is_same = [columns for _, _, columns in parts] == list(transformer._columns)[: len(parts)]
    require(is_same, "a column transformer with the columns of its parts")
    for name, part, columns in parts:
        places = [names.index(c) if isinstance(c, str) else c for c in columns]
        is_same = places == transformer._transformer_to_input_indices.get(name)
        require(is_same, f"a column transformer with the columns of {name!r:.40}")
        exist = all(0 <= place < transformer.n_features_in_ for place in places)
        require(exist, "a column transformer of columns that exist")
        own = transformer.output_indices_.get(name, slice(end, end))
        if not isinstance(part, str) and columns:
            start, end = end, end + _width(part, len(columns))
            is_same = (own.start, own.stop, own.step) == (start, end, None)
            require(is_same, f"a column transformer with the output of {name!r:.40}")
    require(end, "a column transformer that gives columns")


def _width(part: Any, n_columns: int) -> int:
    """Return the number of columns that a part of a table encoder gives.

    It is found with one row, of missing texts or dates, or else of zeros.
    """
    first = part.steps[0][1] if isinstance(part, Pipeline) else part
    is_text = getattr(first, "func", as_text) in (as_text, calendar)
    row = np.full((1, n_columns), None) if is_text else np.zeros((1, n_columns))
    return int(try_transform(part.transform, row).shape[1])


def check_table_encoder(encoder: Any) -> None:
    """Raise unless its columns are those of its column transformer."""
    is_same = len(encoder.column_types_) == encoder.encoder_.n_features_in_
    require(is_same, "a table encoder with a type of each column")


def output_width(encoder: Any) -> int:
    """Return the number of columns that a column transformer gives."""
    return int(max(part.stop for part in encoder.output_indices_.values()))


def try_transform(transform: Any, X: Any) -> Any:
    """Return a few rows through a transformer that was read, or raise :class:`InvalidField`."""
    try:
        with np.errstate(all="ignore"):
            rows = transform(X)
    except Exception as error:  # its attributes may lead to any
        raise InvalidField(f"a transformer that works: {type(error).__name__}: {error}") from error
    shape: tuple[int, ...] = getattr(rows, "shape", ())
    is_valid = len(shape) == 2 and shape[0] == len(X) and shape[1]
    require(is_valid, f"a transformer of rows: {len(X)} became {shape}")
    return rows
