from typing import Any

SOURCES: str

def train(
    coef: Any,
    average: Any,
    separators: Any,
    chosen: Any,
    rows: Any,
    labels: Any,
    importance: Any,
    row_norms: Any,
    orders: Any,
    settings: Any,
    n_threads: int,
) -> None: ...
def count_steps(
    coef: Any,
    average: Any,
    separators: Any,
    chosen: Any,
    n_separators: int,
    n_rows: int,
    average_from: int,
) -> None: ...
def vote(
    coef: Any,
    intercept: Any,
    separators: Any,
    n_separators: int,
    rows: Any,
    row_norms: Any,
    votes: Any,
    doubtful: Any,
) -> None: ...
def vote_by_scores(
    scores: Any,
    start: int,
    coef: Any,
    intercept: Any,
    separators: Any,
    n_separators: int,
    row_norms: Any,
    votes: Any,
    doubtful: Any,
) -> None: ...
def row_norms(rows: Any, coef: Any, norms: Any) -> None: ...
def cosines(values: Any, factor: float) -> None: ...
def draw_seeds(seeds: Any, draws: Any) -> None: ...
def instruction_sets() -> list[str]: ...
def use_instructions(name: str) -> None: ...
def instructions() -> str: ...

class Trees:
    def __init__(
        self,
        parts: list[tuple[bytes, bytes]],
        n_outputs: int,
        width: int,
        is_sparse: bool = False,
    ) -> None: ...

def grow_forest(
    bins: Any,
    edges: Any,
    kinds: Any,
    labels: Any,
    n_classes: int,
    weights: Any,
    tasks: Any,
    n_threads: int,
    features: Any = None,
) -> list[tuple[list[tuple[bytes, bytes]], int]]: ...
def grow_sequences(
    bins: Any,
    edges: Any,
    kinds: Any,
    labels: Any,
    n_classes: int,
    weights: Any,
    tasks: Any,
    base: Any,
    scores: Any,
    n_threads: int,
    features: Any = None,
) -> list[tuple[list[tuple[bytes, bytes]], int]]: ...
def add_up_trees(voters: list[Trees], X: Any, sums: Any, n_threads: int) -> None: ...
def explain_trees(
    trees: Trees,
    X: Any,
    columns: Any,
    players: Any,
    n_players: int,
    quadratures: Any,
    values: Any,
    expected: Any,
    n_threads: int,
) -> None: ...
def explain_waves(
    directions: Any,
    offsets: Any,
    X: Any,
    background: Any,
    players: Any,
    n_players: int,
    quadratures: Any,
    values: Any,
    expected: Any,
    n_threads: int,
) -> None: ...
def find_bins(X: Any, edges: Any, bins: Any, n_threads: int) -> None: ...
def to_probabilities(scores: Any, probabilities: Any) -> None: ...
