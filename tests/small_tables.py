"""The same small table in data frames of several libraries."""

from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

TYPES = {
    "number": "number",
    "integer": "number",
    "price": "number",
    "duration": "number",
    "town": "category",
    "flag": "category",
    "street": "category",
    "date": "date",
}


class ArrowStream:
    """An object that has a stream of Arrow data, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def small_table(n_rows=300, seed=0):
    """Return the columns of a table as lists, and the classes, by number and town."""
    rng = np.random.default_rng(seed)
    number, town = rng.normal(size=n_rows), rng.choice(["Rome", "Oslo", "Bern", "Turin"], n_rows)
    start = datetime(2024, 1, 1)
    columns = {
        "number": number.tolist(),
        "integer": rng.integers(50, size=n_rows).tolist(),
        "price": [Decimal(k) / 4 for k in rng.integers(400, size=n_rows).tolist()],
        "duration": [timedelta(seconds=k) for k in rng.integers(9999, size=n_rows).tolist()],
        "town": town.tolist(),
        "flag": (rng.random(n_rows) < 0.5).tolist(),
        "street": [f"street {k}" for k in rng.integers(90, size=n_rows)],
        "date": [start + timedelta(minutes=k) for k in rng.integers(500_000, size=n_rows).tolist()],
    }
    for values in columns.values():
        for k in np.flatnonzero(rng.random(n_rows) < 0.1):
            values[k] = None
    y = (number + 2 * np.isin(town, ["Rome", "Oslo"]) > 1).astype(int)
    return columns, y


def in_libraries(columns):
    """Return the columns in the frames of all libraries, by their name."""
    table = pa.table(columns)
    objects = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})
    nullable = objects.astype(
        {
            "number": "Float64",
            "integer": "Int64",
            "town": "string",
            "flag": "boolean",
            "date": "datetime64[ns]",
            "duration": "timedelta64[ns]",
        }
    )
    polars = pl.from_arrow(table)
    place, towns = table.column_names.index("town"), ["Turin", "Oslo", "Rome", "Bern", "Paris"]
    return {
        "pandas": nullable,
        "pandas with objects": objects,
        "pandas with categories": nullable.astype(
            {"town": pd.CategoricalDtype(towns), "flag": "category", "street": "category"}
        ),
        "pandas with Arrow types": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": polars,
        "polars with categories": polars.cast({"town": pl.Categorical, "street": pl.Categorical}),
        "polars with enums": polars.cast({"town": pl.Enum(towns)}),
        "pyarrow": table,
        "pyarrow with dictionaries": table.set_column(
            place, "town", table["town"].dictionary_encode()
        ),
        "Arrow stream": ArrowStream(table),
    }
