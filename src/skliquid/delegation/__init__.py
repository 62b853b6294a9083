"""Delegation: the values that the algorithm computes with, free of scikit-learn and compiled code.

- ``graph``: who delegates to whom, with gurus, representatives and weights;
- ``voter_pool``: the interface by which training reaches its voters;
- ``rows``, ``increments``, ``class_weights``, ``new_classes``: the data that voters learn from;
- ``competence``, ``running_averages``: how voters are measured, and averages over increments;
- ``votes``, ``calibration``: votes of the ensemble, and the temperature of its probabilities;
- ``record``: what happened at each increment, and its cost.
"""
