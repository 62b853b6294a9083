"""An oracle: the paper's Algorithm 1 over plain scikit-learn objects, as naively as can be.

Nothing of the library is used. Accuracies and probabilities are fractions, weights a list. What the
paper leaves to chance is drawn from the generator in the order that docs/from_paper_to_code.md
gives: the order of the rows; at each increment the ties of the selection, the ties of the order of
delegators, and one number for each choice.
"""

from collections import Counter
from fractions import Fraction
from math import floor

import numpy as np
from sklearn.base import clone


def algorithm_1(
    X, y, estimator, *, n, n_final, rate, u, mechanism, seed, at_least_one, fit, any_voter=False
):
    entropy = np.random.RandomState(seed).randint(2**31 - 1)
    of_voters, of_choices = np.random.SeedSequence(int(entropy)).spawn(2)
    V = [clone(estimator).set_params(random_state=int(s)) for s in of_voters.generate_state(n)]
    rng = np.random.default_rng(of_choices)
    order = rng.permutation(len(y))

    W = [1] * n
    D = list(range(n))
    A = [[] for _ in V]
    for start in range(0, len(y), u):
        rows = order[start : start + u]
        for i, v in enumerate(V):
            if W[i] != 0:
                v.partial_fit(X[rows], y[rows], classes=np.unique(y))
                A[i].append(Fraction(int(sum(v.predict(X[rows]) == y[rows])), len(rows)))
        Q = [sum(a) / len(a) for a in A]
        remove = select_pruned(Q, W, rate, n_final, mechanism, rng, at_least_one)
        if not remove and fit:  # without the final fit there is more to learn
            break
        for i in remove:
            if sum(w != 0 for w in W) <= n_final:
                break
            j = transfer_to(i, Q, W, D, mechanism, rng, any_voter)
            if j is not None:
                D[i] = j
                W[guru_of(j, D)] += W[i]
                W[i] = 0
        if sum(w != 0 for w in W) <= n_final and fit:
            break
    if fit:
        V = [clone(v).fit(X, y) if W[i] != 0 else v for i, v in enumerate(V)]
    return V, W


def select_pruned(Q, W, rate, n_final, mechanism, rng, at_least_one):
    remaining = [i for i, w in enumerate(W) if w != 0]
    count = floor(Fraction(str(rate)) * len(remaining))
    if at_least_one:
        count = max(count, 1)
    count = min(count, len(remaining) - n_final)
    if mechanism == "direct" or count == 0:
        return []
    if mechanism == "random":
        removed = [remaining[k] for k in rng.choice(len(remaining), count, replace=False)]
    else:
        ties = rng.random(len(remaining))
        removed = sorted(remaining, key=lambda i: (Q[i], ties[remaining.index(i)]))[:count]
    ties = dict(zip(removed, rng.random(count), strict=True))
    return sorted(removed, key=lambda i: (Q[i], ties[i]))


def guru_of(i, D):
    while D[i] != i:
        i = D[i]
    return i


def transfer_to(i, Q, W, D, mechanism, rng, any_voter):
    if any_voter:
        others = [j for j in range(len(W)) if guru_of(j, D) != i]
    else:
        others = [j for j, w in enumerate(W) if w != 0 and j != i]
    better = [j for j in others if Q[j] > Q[i]]
    if mechanism == "random":
        p = {j: Fraction(1, len(others)) for j in others}
    elif not better:
        return None
    elif mechanism == "max":
        lightest = [j for j in better if W[j] == min(W[k] for k in better)]
        best = [j for j in lightest if Q[j] == max(Q[k] for k in lightest)]
        p = {j: Fraction(1, len(best)) for j in best}
    elif mechanism == "random_better":
        p = {j: Fraction(1, len(better)) for j in better}
    else:
        total = sum(Q[k] - Q[i] for k in better)
        p = {j: (Q[j] - Q[i]) / total for j in better}
        if mechanism == "proportional_weighted":
            p = {j: p[j] / W[guru_of(j, D)] for j in better}
            p = {j: p[j] / sum(p.values()) for j in better}
    drawn, reached = Fraction(rng.random()), Fraction(0)
    for j, probability in p.items():
        reached += probability
        if drawn < reached:
            return j
    return None


def weighted_vote(V, W, X):
    votes = [v.predict(X) for v, w in zip(V, W, strict=True) if w != 0]
    weights = [w for w in W if w != 0]
    winners = []
    for sample in range(len(X)):
        tally = Counter()
        for vote, weight in zip(votes, weights, strict=True):
            tally[vote[sample]] += weight
        most = max(tally.values())
        winners.append(min(label for label, weight in tally.items() if weight == most))
    return np.array(winners)
