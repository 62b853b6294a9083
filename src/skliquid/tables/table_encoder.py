"""TableEncoder: tables with categories, dates, texts and missing values, as numbers."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import require, storable
from skliquid.tables import numeric_view
from skliquid.tables.column_encoders import (
    MAX_CLASSES,
    N_FOLDS,
    OTHER,
    PRIOR_ROWS,
    Calendar,
    Codes,
    ColumnEncoder,
    Numbers,
    Target,
    TargetShares,
    TextComponents,
)
from skliquid.tables.frames import CATEGORY, DATE, NUMBER, TEXT, ArrayFrame, Column, as_frame
from skliquid.tables.numeric_view import NumericView
from skliquid.tables.stored_encoder import (
    LEFT_OUT,
    EncodedColumn,
    State,
    StoredTableEncoder,
)
from skliquid.tables.text_values import (
    find_date_format,
    find_number_format,
    mean_words,
    similar_labels,
)
from skliquid.validation.checks import suggestion
from skliquid.validation.user_warnings import warn_user

MIN_WORDS_OF_TEXT = 8
"""A column of more than 62 distinct values with eight words on average is text, not a category."""

_MAX_GROUPS_NAMED = 3
_DIGIT = re.compile("[0-9]")


@storable
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table into numbers, for classifiers that take only numbers.

    :class:`~skliquid.LiquidEnsembleClassifier` takes tables itself, with an encoder like this one.

    The encoding of a column depends on its type in the table, and for text on its values:

    - **Numbers** are scaled; missing ones become the mean, and get an indicator column. Durations
      are numbers of seconds. Text that holds numbers, with signs of currencies, units or markers of
      missing values such as ``"-"``, is read as numbers.
    - **Categories** get a one-hot encoding: text, categorical types and booleans. A missing value
      is a category. Two categories are the same if their text is, such as True and ``"True"``.
    - **Many categories**: of more than 62, the 62 most frequent get a one-hot encoding. All are
      encoded by the share of each class among their training rows. With fewer than ten rows per
      category, they are also encoded by their spelling.
    - **Texts**, with eight words or more on average, are encoded by their words.
    - **Dates**: types of dates, and text that holds dates. They become days since 1970, year,
      month, day, weekday and hour, and positions in the year, the week and the day, where these
      vary. Dates with a time zone are converted to UTC.

    Categories that were not in the training rows count like rare ones. Columns are found by their
    names, in any order; other columns are ignored.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories, by name, by position or by one boolean each.
        ``"from_dtype"``: those with categorical types, booleans, and text that is neither numbers,
        dates nor long.
    random_state : int, RandomState instance or None, default=None
        Seeds the encoding of texts and of columns with many categories.

    Attributes
    ----------
    column_types_ : dict
        The type of each column: ``"number"``, ``"category"``, ``"text"``, ``"date"`` or
        ``"left out"``.
    left_out_ : dict
        The columns that are not used, with the reason.

    Examples
    --------
    >>> import pandas as pd
    >>> from skliquid import TableEncoder
    >>> table = pd.DataFrame({"age": [20, 40, None], "town": ["Rome", "Oslo", "Turin"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.column_types_
    {'age': 'number', 'town': 'category'}
    >>> encoder.transform(table).tolist()
    [[-1.0, 0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0]]
    """

    stored_as = StoredTableEncoder

    def __init__(self, categorical_features: Any = "from_dtype", *, random_state: Any = None):
        self.categorical_features = categorical_features
        self.random_state = random_state

    # As a transformer of scikit-learn

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how to encode the columns of a table.

        Without the classes ``y``, many categories are not encoded by the classes of their rows.
        """
        self.learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn how to encode the columns, and return the rows as numbers.

        Unlike in ``transform``, many categories are encoded by the classes of other rows only.
        """
        encoded = self.learn(X, y)
        return self.view_.dense(encoded)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more rows: new categories, and the classes of many categories."""
        self.grows = True
        self.learn(X, y, is_first=not hasattr(self, "columns_"))
        return self

    def transform(self, X: Any) -> Floats:
        """Return a table as an array of numbers of shape (n_samples, n_features_out)."""
        encoded = self.encode(X)
        return self.view_.dense(encoded)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return names like ``"age"``, ``"town_Oslo"``, and ``"town_missing"``."""
        check_is_fitted(self)
        pairs = [(c.name, e) for c in self.columns_ for e in c.encoders]
        encoded = [(name, e) for column, e in pairs for name in e.names(column)]
        names = []
        for source, content in zip(self.view_.sources_, self.view_.contents_, strict=True):
            name, encoder = encoded[source]
            names.append(f"{name}{_content_name(int(content), encoder)}")
        return np.array(names, dtype=object)

    # For the ensemble

    gives_codes: bool = False
    """Whether the rows of the ensemble have codes of categories, for trees, or one-hot columns."""

    grows: bool = False
    """Whether later rows may have new categories."""

    announced: Any = None
    """All classes, if they are known before the first rows."""

    def rows(self, X: Any) -> Any:
        """Return the rows of a table as the ensemble sees them."""
        return self.output(self.encode(X))

    def output(self, encoded: Floats) -> Any:
        """Return encoded rows as the ensemble sees them."""
        return encoded if self.gives_codes else self.view_.standardized(encoded)

    @property
    def n_output_columns(self) -> int:
        """Number of columns that the ensemble sees."""
        return len(self.sources_ if self.gives_codes else self.view_.sources_)

    @property
    def n_features_out_(self) -> int:
        """Number of columns that ``transform`` returns."""
        return len(self.view_.sources_)

    @property
    def inputs(self) -> dict[str, Any]:
        """The attributes of scikit-learn that describe the input."""
        names = ("n_features_in_", "feature_names_in_")
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def learn(self, X: Any, y: Any = None, is_used: Any = None, *, is_first: bool = True) -> Floats:
        """Learn from rows, and return their encoding, in which categories are codes.

        Rows with a False in ``is_used`` are left out: their encoding is zero.
        """
        frame = as_frame(X)
        if is_used is not None and not is_used.all():
            return self._learn_some(frame, y, is_used, is_first=is_first)
        if is_first:
            self._start(frame)
        else:
            frame = self._checked(frame)
        target = self._target(y, frame.n_rows, is_first=is_first)
        blocks = [
            encoder.learn_and_encode(column, target)
            for column, encoders in self._used(frame)
            for encoder in encoders
        ]
        encoded = np.ascontiguousarray(np.hstack(blocks))
        frame.forget()
        if is_first:
            self._describe_encoders()
            self.view_ = NumericView().fit(encoded, is_code=self.is_code_)
        return encoded

    def _learn_some(self, frame: Any, y: Any, is_used: Any, *, is_first: bool) -> Floats:
        """Learn from the rows that are used, as if there were no others."""
        if not is_used.any():
            return self.learn(frame, y) if is_first else self.encode(frame)
        learned = self.learn(frame.select(is_used), y[is_used], is_first=is_first)
        encoded = np.zeros((frame.n_rows, learned.shape[1]))
        encoded[is_used] = learned
        return encoded

    def encode(self, X: Any) -> Floats:
        """Return the encoding of rows, in which categories are codes."""
        if not hasattr(self, "columns_"):
            check_is_fitted(self, "columns_")
        frame = self._checked(as_frame(X))
        blocks = [e.encode(column) for column, encoders in self._used(frame) for e in encoders]
        frame.forget()
        return np.ascontiguousarray(np.hstack(blocks))

    @property
    def column_types_(self) -> dict[Any, str]:
        """The type of each column."""
        return {column.name: column.column_type for column in self.columns_}

    @property
    def left_out_(self) -> dict[Any, str]:
        """The columns that are not used, with the reason."""
        return {c.name: c.notes[0] for c in self.columns_ if c.column_type == LEFT_OUT}

    def importances_of_columns(self, importances: Floats) -> Floats:
        """Return the importances of the table's columns, from those the ensemble sees."""
        if not self.gives_codes:
            importances = self.view_.importances(importances)
        found = np.bincount(self.sources_, importances, minlength=len(self.columns_))
        return found / (found.sum() or 1.0)

    # For model files

    def to_stored(self) -> StoredTableEncoder:
        """Return the learned state."""
        columns = getattr(self, "columns_", [])
        return StoredTableEncoder(
            self.random_state,
            [column.name for column in columns],
            [column.column_type for column in columns],
            getattr(self, "feature_names_in_", None),
            columns=columns,
            view=getattr(self, "view_", None),
            categorical_features=self.categorical_features,
            gives_codes=self.gives_codes,
            seed=getattr(self, "_seed", 0),
            classes=getattr(self, "classes_", None),
        )

    @classmethod
    def from_stored(cls, stored: StoredTableEncoder) -> Self:
        """Return an encoder from a model file."""
        encoder = cls(stored.categorical_features, random_state=stored.random_state)
        encoder.gives_codes = stored.gives_codes
        if not stored.names:
            return encoder
        encoder.columns_, encoder.view_ = stored.converted()
        encoder._seed, encoder.n_features_in_ = stored.seed, len(encoder.columns_)
        if stored.classes is not None:
            encoder.classes_ = stored.classes
        names = stored.feature_names
        if names is not None:
            require(names.tolist() == stored.names, "the names of its columns")
            encoder.feature_names_in_ = names
        encoder._describe_encoders()
        is_one_hot = encoder.view_.contents_ >= 0
        is_code = encoder.is_code_[encoder.view_.sources_.clip(max=len(encoder.is_code_) - 1)]
        require(np.array_equal(is_one_hot, is_code), "one-hot columns of its categories")
        require(len(encoder.sources_) == encoder.view_.n_features_in_, "a view of its columns")
        return encoder

    # Inside

    def _start(self, frame: Any) -> None:
        """Choose the type and the encoders of each column."""
        if not frame.names:
            raise ValueError("X must have columns: got a table without any. Add one.")
        _check_has_rows(frame)
        chosen = categorical_positions(frame.names, self.categorical_features)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.n_features_in_ = len(frame.names)
        self.__dict__.pop("feature_names_in_", None)
        if all(isinstance(name, str) for name in frame.names):
            self.feature_names_in_ = np.array(frame.names, dtype=object)
        self.columns_ = [
            _understand(frame.columns[name], None if chosen is None else k in chosen, self._seed)
            for k, name in enumerate(frame.names)
        ]
        if self.grows:
            for codes in (e for c in self.columns_ for e in c.encoders if isinstance(e, Codes)):
                codes.is_categorical = True
        _check_left_out(self.left_out_, n_columns=len(self.columns_))
        _warn_of_notes(self.columns_)

    def _target(self, y: Any, n_rows: int, *, is_first: bool) -> Target:
        """Return the classes of rows for target statistics, and drop these if there are none."""
        shares = [e for c in self.columns_ for e in c.encoders if isinstance(e, TargetShares)]
        nothing = np.zeros(n_rows, dtype=np.intp)
        has_counts = is_first or hasattr(self, "classes_")  # not in files of version 3
        if not (shares and has_counts):
            return Target(nothing, 2, nothing, is_first)
        labels = np.zeros(n_rows) if y is None else column_or_1d(y)
        check_consistent_length(labels, nothing)
        if is_first:
            are_few = self.announced is not None and len(self.announced) <= MAX_CLASSES
            self.classes_ = _frequent_classes(self.announced if are_few else labels)
        if len(self.classes_) < 2:
            for column in self.columns_:
                column.encoders = [e for e in column.encoders if not isinstance(e, TargetShares)]
            return Target(nothing, 2, nothing, is_first)
        places = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        places = np.where(self.classes_[places] == labels, places, -1)
        folds = np.random.default_rng(self._seed).permutation(n_rows) % N_FOLDS
        return Target(places, len(self.classes_), folds, is_first)

    def _used(self, frame: Any) -> list[tuple[Column, list[ColumnEncoder]]]:
        used = [column for column in self.columns_ if column.encoders]
        return [(frame.columns[column.name], column.encoders) for column in used]

    def _describe_encoders(self) -> None:
        """Set which encoded columns are codes, and the column of the table that each comes from."""
        encoders = [(k, e) for k, column in enumerate(self.columns_) for e in column.encoders]
        widths = [len(e.names("")) for _, e in encoders]
        self.sources_ = np.repeat([k for k, _ in encoders], widths)
        self.is_code_ = np.repeat([isinstance(e, Codes) for _, e in encoders], widths)
        self.is_categorical_ = np.repeat([e.is_categorical for _, e in encoders], widths)

    def _checked(self, frame: Any) -> Any:
        """Return a frame that has all columns that are used, or raise."""
        _check_has_rows(frame)
        if isinstance(frame, ArrayFrame):
            return self._named(frame)
        known = set(frame.names)
        for column in self.columns_:
            if column.encoders and column.name not in known:
                names = [name for name in frame.names if isinstance(name, str)]
                advice = suggestion(column.name, names)
                raise ValueError(
                    f"X must have the columns of training: {column.name!r} is missing. "
                    + (advice if "mean" in advice else "Add it, or train without it.")
                )
        return frame

    def _named(self, frame: ArrayFrame) -> ArrayFrame:
        """Return an array with the names of the columns of training."""
        if len(frame.names) != self.n_features_in_:
            raise ValueError(
                f"X must have {self.n_features_in_} columns, as in training: got "
                f"{len(frame.names)}. Give a data frame with the same columns."
            )
        return ArrayFrame(frame.array, [column.name for column in self.columns_])


def _check_has_rows(frame: Any) -> None:
    if not frame.n_rows:
        raise ValueError("X must have rows: got a table without any. Add some.")


@dataclass(frozen=True, eq=False)
class StoredEncoding:
    """The encoder of a model that was trained on a file, in files of version 3."""

    column_types: Mapping[str, str]
    states: dict[str, State]


@storable
class Encoding:
    """Reads encoders of files of version 3; they become table encoders."""

    stored_as = StoredEncoding

    @classmethod
    def from_stored(cls, stored: StoredEncoding) -> TableEncoder:
        """Return the encoder as one of tables."""
        names = list(stored.column_types)
        types = ["text of a file" if t == "text" else t for t in stored.column_types.values()]
        feature_names = np.array(names, dtype=object)
        table = StoredTableEncoder(None, names, types, feature_names, stored.states)
        return TableEncoder.from_stored(table)


def _content_name(content: int, encoder: ColumnEncoder) -> str:
    """Return the end of the name of a column of the view."""
    if content == numeric_view.NUMBER:
        return ""
    if content in (numeric_view.IS_MISSING, OTHER + 1):
        return "_missing"
    return "_other" if content == OTHER else f"_{encoder.values[content]}"  # type: ignore[attr-defined]


def _frequent_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the 20 most frequent classes, sorted."""
    classes, counts = np.unique(labels, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:MAX_CLASSES]
    return np.asarray(classes[np.sort(kept)])


# Columns


def categorical_positions(names: Sequence[Any], chosen: Any) -> Collection[int] | None:
    """Return the positions of categorical columns; None if their types decide."""
    if isinstance(chosen, str) and chosen == "from_dtype":
        return None
    if chosen is None:
        return ()
    wanted: NDArray[Any] = np.asarray(chosen)
    if wanted.dtype == bool and wanted.shape == (len(names),):
        return set(np.flatnonzero(wanted).tolist())
    if wanted.ndim == 1 and wanted.dtype.kind in "iu" and np.all(wanted < len(names)):
        if np.all(wanted >= 0):
            return set(wanted.tolist())
    elif wanted.ndim == 1 and set(wanted.tolist()) <= set(names):
        return {list(names).index(name) for name in wanted.tolist()}
    raise ValueError(
        "categorical_features must be 'from_dtype', None, or say which columns of X, by name, by "
        f"position or by one boolean each: got {chosen!r}. Give a list such as "
        f"[{names[0]!r}]."
    )


def _understand(column: Column, is_category: bool | None, seed: int) -> EncodedColumn:
    """Return the type of a column and its encoders.

    ``is_category`` is None where the type of the column decides.
    """
    found = column.column_type
    if found in (NUMBER, DATE) and not is_category:
        return _numbers_or_dates(column, found)
    if found not in (NUMBER, CATEGORY, DATE, TEXT):
        reason = f"its type is {found}, which is not supported: convert it"
        return EncodedColumn(column.name, LEFT_OUT, notes=[reason])
    if not len(column.texts.values):
        return EncodedColumn(column.name, LEFT_OUT, notes=["it has no value"])
    if is_category or (found == CATEGORY and is_category is None):
        return _categories(column, seed)
    return _texts(column, seed, may_be_category=is_category is None)


def _numbers_or_dates(column: Column, found: str) -> EncodedColumn:
    if found == NUMBER:
        if np.isnan(column.numbers).all():
            return EncodedColumn(column.name, LEFT_OUT, notes=["it has no value"])
        return EncodedColumn(column.name, NUMBER, [Numbers()])
    dates = column.dates
    present = dates[~np.isnat(dates)]
    if not len(present):
        return EncodedColumn(column.name, LEFT_OUT, notes=["it has no value"])
    if np.all(present == present[0]):
        return EncodedColumn(column.name, LEFT_OUT, notes=["it has one date only"])
    return EncodedColumn(column.name, DATE, [Calendar()])


def _texts(column: Column, seed: int, *, may_be_category: bool) -> EncodedColumn:
    """Return the encoder of texts: numbers, dates, categories or long texts."""
    values, counts = column.texts.values, column.texts.counts()
    if any(map(_DIGIT.search, values)):
        numbers = find_number_format(values, counts)
        if numbers is not None and not (numbers.are_digits and may_be_category):
            encoder = Numbers(numbers.format, are_texts=True)
            return EncodedColumn(column.name, NUMBER, [encoder], numbers.notes)
        dates = find_date_format(values, counts)
        if dates is not None and len(values) == 1:
            return EncodedColumn(column.name, LEFT_OUT, notes=["it has one date only"])
        if dates is not None:
            date_format, notes = dates
            return EncodedColumn(column.name, DATE, [Calendar(date_format)], notes)
    is_long = len(values) > OTHER and mean_words(values) >= MIN_WORDS_OF_TEXT
    if is_long or not may_be_category:
        return EncodedColumn(column.name, TEXT, [TextComponents("words", seed)])
    return _categories(column, seed)


def _categories(column: Column, seed: int) -> EncodedColumn:
    values = column.texts.values
    notes = []
    for group in similar_labels(values, column.texts.counts())[:_MAX_GROUPS_NAMED]:
        labels = ", ".join(map(repr, group))
        notes.append(f"{labels} differ only in case or spaces. If they are the same, correct them")
    encoders: list[ColumnEncoder] = [Codes(is_categorical=len(values) > 2)]
    if len(values) > OTHER:
        encoders.append(TargetShares())
    if len(values) > OTHER and PRIOR_ROWS * len(values) > column.n_rows:
        encoders.append(TextComponents("spelling", seed))  # shares of few rows are noisy
    return EncodedColumn(column.name, CATEGORY, encoders, notes)


def _check_left_out(left_out: dict[Any, str], *, n_columns: int) -> None:
    """Warn of columns of unknown types, or raise if no column is left."""
    texts = [f"{name!r} ({reason})" for name, reason in left_out.items()]
    if left_out and len(left_out) == n_columns:
        raise ValueError(
            "X must have a column of numbers, text, categories, booleans or dates: there is none "
            f"among {', '.join(texts)}. Convert one of them, or fill one in."
        )
    if others := [text for text in texts if "not supported" in text]:
        warn_user(f"Columns are left out: {', '.join(others)}.")


def _warn_of_notes(columns: Sequence[EncodedColumn]) -> None:
    """Warn of the assumptions about columns of text."""
    notes = [(c.name, note) for c in columns if c.column_type != LEFT_OUT for note in c.notes]
    if notes:
        listed = "; ".join(f"{name!r}: {note}" for name, note in notes)
        warn_user(f"Assumptions about columns of X: {listed}.")
