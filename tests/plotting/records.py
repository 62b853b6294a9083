"""Records made by hand, and random ones."""

from itertools import pairwise

import numpy as np

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord, TrainingRecord


def record_of(*delegations, voters=(), **values):
    """Return a record with the delegations after each increment; all voters begin alone."""
    graphs = [DelegationGraph.direct(len(delegations[0])), *map(DelegationGraph, delegations)]
    record = TrainingRecord(1, voters=voters)
    for t, (before, graph) in enumerate(pairwise(graphs), start=1):
        competence = np.linspace(0.5, 0.9, graph.n_voters)[before.representatives]
        found = {"accuracy": competence, "competence": competence, "eval_accuracy": np.nan}
        found |= {"n_trained": len(before.representatives), "cost": 10} | values
        record.append(
            IncrementRecord(
                increment=t,
                rows=range(10),
                voters=before.representatives,
                before=before,
                graph=graph,
                **found,
            )
        )
    return record


def random_record(n_voters, n_increments, seed=0, *, revokes=False, any_voter=False, voters=()):
    """Return a record in which some voters delegate at each increment, and some return."""
    rng, graph, delegations = np.random.default_rng(seed), DelegationGraph.direct(n_voters), []
    for _ in range(n_increments):
        n_delegators = max(len(graph.representatives) // 5, 1)
        for delegator in rng.choice(graph.representatives, n_delegators, replace=False):
            candidates = np.arange(n_voters) if any_voter else graph.representatives
            others = candidates[graph.gurus[candidates] != delegator]
            if len(others):
                graph = graph.delegate([delegator], to=[rng.choice(others)])
        delegators = np.flatnonzero(graph.weights == 0)
        if revokes and len(delegators):
            graph = graph.revoke([rng.choice(delegators)])
        delegations.append(graph.delegation)
    return record_of(*delegations, voters=voters)
