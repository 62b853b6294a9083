"""Arguments that do not fit, by chance."""

import numpy as np

KINDS = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, np.dtype(">f8")]
EXTREMES = [-1, 0, 1, 7, 2**31 - 1, -(2**31), 2**62, -(2**62)]


def changed(rng, like, others):
    """Return an array like another, with one thing changed."""
    change = rng.choice(["kind", "shape", "layout", "numbers", "read-only", "shared", "empty"])
    if change == "kind":
        with np.errstate(all="ignore"):
            return like.astype(KINDS[rng.integers(len(KINDS))])
    if change == "shape":
        return np.resize(like, rng.integers(0, 9, rng.integers(1, 4)))
    if change == "layout":
        return np.asfortranarray(like) if rng.random() < 0.5 else like[::2]
    if change == "shared":
        return others[rng.integers(len(others))]
    if change == "empty":
        return like[:0]
    array = like.copy()
    if change == "numbers" and array.size:
        extreme = np.array(EXTREMES[rng.integers(len(EXTREMES))])
        with np.errstate(all="ignore"):
            array.flat[rng.integers(array.size)] = extreme.astype(array.dtype)
    array.flags.writeable = change != "read-only"
    return array


def n_let_in(enter, some_arguments):
    """Return how often the door let arguments in; any error but the door's fails the test."""
    n = 0
    for arguments in some_arguments:
        try:
            enter(**arguments)
        except (ValueError, TypeError):
            continue
        n += 1
    return n
