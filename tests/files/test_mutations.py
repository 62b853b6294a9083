from collections import Counter

import numpy as np
import pytest
from file_mutations import mutations, outcome, references

N = 42


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return references(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize(
    "name",
    [
        *("default", "classes", "stream", "paper", "pipeline", "table", "encoder", "streamed"),
        *("pruned list", "pruned bagging"),
    ],
)
def test_a_changed_file_is_refused_or_a_valid_model(files, name):
    reference = files[name]
    assert outcome(reference.path.read_bytes(), reference) == "same"
    found = Counter()
    for kind, content in mutations(reference.path, N, np.random.default_rng(0)):
        result = outcome(content, reference)
        assert not result.startswith("FAULT"), (kind, result)
        found[kind, result] += 1
    assert found["bytes", "refused"] == N // 7  # without a digest that fits, none gets through
