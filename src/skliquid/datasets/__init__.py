"""Datasets: the paper's eight datasets by name, as X and y (the extra ``pandas``).

Seven come with the package; ``online-shoppers`` is read from the data home, or else downloaded from
UCI. Start reading in ``loading``, with ``load_dataset``.
"""

from skliquid.datasets.catalogue import DATASET_NAMES
from skliquid.datasets.data_home import DatasetNotAvailable
from skliquid.datasets.dataset import Dataset
from skliquid.datasets.loading import DatasetDamaged, available_datasets, load_dataset

__all__ = [
    "DATASET_NAMES",
    "Dataset",
    "DatasetDamaged",
    "DatasetNotAvailable",
    "available_datasets",
    "load_dataset",
]
