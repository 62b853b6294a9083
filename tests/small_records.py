"""Records of small trainings that never took place, and of one with many voters."""

import numpy as np

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord, TrainingRecord, VoterDescription


def increment(t, before, graph, competence=0.5, cost=100, **values):
    """Return an increment on ten rows, at which the representatives that are left trained."""
    voters = before.representatives
    competence = np.broadcast_to(np.asarray(competence, dtype=float), len(voters))
    values = {"n_trained": len(graph.representatives), "eval_accuracy": np.nan, **values}
    rows = range(10 * (t - 1), 10 * t)
    return IncrementRecord(
        t, rows, voters, competence, competence, before, graph, cost=cost, **values
    )


def record_of(graphs, **values):
    """Return the record of a training that went from graph to graph."""
    record = TrainingRecord(n_final=1, **values)
    for t in range(1, len(graphs)):
        record.append(increment(t, graphs[t - 1], graphs[t]))
    return record


def chain():
    """Return the record of four voters: 0 delegates to 1, then 1 to 3; and then 1 returns."""
    start = DelegationGraph.direct(4)
    first = start.delegate([0], to=[1])
    second = first.delegate([1], to=[3])
    record = record_of([start, first, second, second.revoke([1])])
    record.voters = (
        VoterDescription("linear", "signed_log", {"alpha": 0.00031205}),
        VoterDescription("forest", "", {"max_features": "sqrt", "n_estimators": 8}),
        VoterDescription("linear", "", {"alpha": 0.1}),
        VoterDescription("boosted", "", {"max_depth": 3}),
    )
    record.final_fit_cost = 400
    return record


def many(n_voters, n_increments):
    """Return the record of many voters, of which some delegate at each increment."""
    rng = np.random.default_rng(0)
    graphs, record = [DelegationGraph.direct(n_voters)], TrainingRecord(n_final=10)
    for t in range(1, n_increments + 1):
        ranked = rng.permutation(graphs[-1].representatives)
        n_delegators = (len(ranked) - 10) // 12
        to = rng.choice(ranked[n_delegators:], n_delegators)
        graphs.append(graphs[-1].delegate(ranked[:n_delegators], to=to))
        competence = rng.random(len(ranked))
        record.append(increment(t, *graphs[-2:], competence, eval_accuracy=rng.random()))
    hyperparameters = {"alpha": 0.000123456, "eta0": 12.5, "splitter": "random"}
    kinds = ("linear", "forest", "boosted")
    record.voters = tuple(
        VoterDescription(kinds[k % 3], "fourier_0.2", hyperparameters) for k in range(n_voters)
    )
    return record
