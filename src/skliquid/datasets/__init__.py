"""The paper's eight datasets by name, and a user's own files: name -> X, y.

Seven come with the package; ``online-shoppers`` is read from the data home, or else downloaded from
UCI. To read the code:

1. ``catalogue``: what is known of each dataset, including its checksum, as in ``catalogue.toml``;
2. ``table`` and ``columns``: a file as columns of text, its checksum, and checks of column names;
3. ``dataset``: ``Dataset``, the columns as X and y;
4. ``data_home`` and ``own_file``: files that do not come with the package;
5. ``loading``: ``load_dataset``, which combines them.
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
