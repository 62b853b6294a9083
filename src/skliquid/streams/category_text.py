"""Categories as text: the same text, whether they come from a file or from a data frame."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from skliquid.streams.kinds import Kinds
from skliquid.tabular import text_of


def as_truth(value: Any) -> str | None:
    """Return the text of a truth value, which may be written as a number or as text."""
    text = text_of(value)
    return text and {"0": "False", "1": "True"}.get(text, text.capitalize())


def column_as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of a file as text; each different value is looked at once."""
    values = column.combine_chunks()
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    texts = pa.array([text_of(value) for value in encoded.dictionary.to_pandas()], pa.string())
    return pa.chunked_array([texts.take(encoded.indices)])


def column_as_truth(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of zeros and ones as truth values."""
    numbers = column.cast(pa.float64())
    numbers = pc.if_else(pc.is_nan(numbers), None, numbers)
    if strange := set(pc.unique(numbers).to_pylist()) - {0, 1, None}:
        raise pa.ArrowInvalid(f"{min(strange):g} is neither 0 nor 1")
    return numbers.cast(pa.bool_())


def with_texts(frame: Any, kinds: Kinds) -> Any:
    """Return a data frame with its categories as ``kinds`` takes those of a file."""
    if not hasattr(frame, "columns"):
        return frame
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    return frame.assign(
        **{
            name: frame[name].astype(object).map(as_truth if kinds[name] == "truth" else text_of)
            for name in frame.columns
            if kinds.get(name, "number") != "number"
        }
    )
