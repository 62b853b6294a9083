r"""Shares: contributions to scores become contributions to probabilities.

Shapley values of a score sum to its change, from its mean over the background to its value in the
row. A probability is no sum of scores. Its change is divided among columns by logarithmic means, as
in index decomposition analysis: the parts sum to the change, in whatever order columns come.
"""

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from skliquid.delegation.arrays import Floats

_SMALL = 1e-6


def shares_from_logs(values: Floats, logs: Floats, base_logs: Floats) -> Floats:
    r"""Return contributions to the softmax of ``logs``, from contributions to ``logs``.

    .. math:: L_c \Bigl(v_{jc} - \sum_k L_k v_{jk} \Big/ \sum_k L_k\Bigr), \qquad
        L_c = \frac{p_c - q_c}{\log p_c - \log q_c}

    for the contribution :math:`v_{jc}` of column j to the logarithm of class c, and the softmax p
    of ``logs`` and q of ``base_logs``. If those sum to the change of the logarithms, these sum to
    p - q. With two classes each contribution is multiplied by the same number.

    Examples
    --------
    >>> values = np.array([[[0.0, 1.0], [0.0, -3.0]]])  # one row, two columns, two classes
    >>> shares = shares_from_logs(values, np.array([[0.0, -2.0]]), np.zeros(2))
    >>> shares[0, :, 1].round(3).tolist(), round(float(expit(-2) - expit(0)), 3)
    ([0.19, -0.571], -0.381)
    """
    means = _log_means(log_softmax(logs, axis=-1), log_softmax(base_logs))
    common = np.einsum("njc,nc->nj", values, means / means.sum(axis=1, keepdims=True))
    shares: Floats = means[:, None, :] * (values - common[:, :, None])
    return shares


def logs_from_shares(values: Floats, shares: Floats, base: Floats) -> Floats:
    """Return contributions to logarithms of probabilities, from those to probabilities.

    Contributions to tiny probabilities are rounded. What their logarithms then lack is divided by
    size.
    """
    logs, base_logs = np.log(shares), np.log(base)
    found = values / _log_means(logs, base_logs)[:, None, :]
    sizes = np.abs(found) + np.finfo(np.float64).tiny
    lacking = logs - base_logs - found.sum(axis=1)
    closed: Floats = found + (lacking / sizes.sum(axis=1))[:, None, :] * sizes
    return closed


def logs_from_logistic(values: Floats, scores: Floats, base: Floats) -> Floats:
    """Return contributions to the logarithm of the logistic function, from those to its scores."""
    change = scores - base
    is_small = np.abs(change) < _SMALL
    ratios = (log_expit(scores) - log_expit(base)) / np.where(is_small, 1.0, change)
    slopes = np.where(is_small, expit(-(scores + base) / 2), ratios)
    logs: Floats = values * slopes[:, None, :]
    return logs


def _log_means(logs: Floats, base_logs: Floats) -> Floats:
    r"""Return :math:`(p - q) / (\log p - \log q)`, and p where both are the same."""
    distance = np.abs(logs - base_logs)
    is_zero = distance == 0
    ratios = np.where(is_zero, 1.0, -np.expm1(-distance) / np.where(is_zero, 1.0, distance))
    means: Floats = np.exp(np.maximum(logs, base_logs)) * ratios
    return means
