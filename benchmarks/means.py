"""Means over splits, pairs of methods, and ratios of what they take."""

import numpy as np
import pandas as pd


def means_by_dataset(results: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return means over splits, one row per dataset and one column per method."""
    return results.groupby(["dataset", "method"])[column].mean().unstack()


def paired(results: pd.DataFrame, column: str, first: str, second: str) -> pd.DataFrame:
    """Return the values of two methods on the splits that both have."""
    own = results[results["method"].isin([first, second])]
    wide = own.pivot(index=["dataset", "split"], columns="method", values=column)
    return wide.reindex(columns=[first, second]).dropna()


def paired_means(results: pd.DataFrame, column: str, first: str, second: str) -> pd.DataFrame:
    """Return the means of two methods by dataset, over the splits that both have."""
    return paired(results, column, first, second).groupby("dataset").mean()


def ratios(results: pd.DataFrame, column: str, first: str, second: str) -> pd.Series:
    """Return by dataset how many times as much the first of two methods takes."""
    both = paired_means(results, column, first, second)
    return both[first] / both[second]


def geometric_mean(values: pd.DataFrame | pd.Series) -> pd.Series | float:
    return np.exp(np.log(values).mean())
