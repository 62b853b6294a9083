"""Streams of rows whose classes change places."""

from sklearn.datasets import make_classification


def stream(n_batches, batch=50, seed=0, turn=None):
    """Return batches of rows; from batch ``turn`` on, the classes have changed places."""
    X, y = make_classification(
        n_batches * batch, 8, n_informative=5, class_sep=1.5, random_state=seed
    )
    if turn is not None:
        y[turn * batch :] = 1 - y[turn * batch :]
    return [(X[i : i + batch], y[i : i + batch]) for i in range(0, len(y), batch)]
