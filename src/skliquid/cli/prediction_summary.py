"""What ``skliquid predict`` says about its predictions."""

from collections import Counter
from time import perf_counter

from skliquid.streams.model import Predictions
from skliquid.streams.unseen import UnseenCount


class PredictionSummary:
    """Counts of all predictions so far, in memory that does not grow with them."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.unseen: dict[str, UnseenCount] = {}
        self.start = perf_counter()

    def add(self, part: Predictions) -> None:
        """Count some more rows."""
        self.totals.update(rows=len(part.classes), labelled=part.n_labelled)
        self.totals.update(correct=part.n_correct, unknown=part.n_unknown)
        for name, unseen in part.unseen.items():
            self.unseen.setdefault(name, UnseenCount()).add(unseen)

    def speed(self) -> str:
        """Return how far predictions are."""
        speed = self.totals["rows"] / (perf_counter() - self.start)
        return f"{self.totals['rows']:,} rows, {speed:,.0f} per second"

    def lines(self) -> list[str]:
        """Return what to say at the end: one line of totals, and one per column of categories."""
        parts = [f"{self.totals['rows']:,} rows in {perf_counter() - self.start:.1f} s."]
        if n_labelled := self.totals["labelled"]:
            share = self.totals["correct"] / n_labelled
            parts.append(f"Accuracy on the {n_labelled:,} rows with a label: {share:.4f}.")
        if self.totals["unknown"]:
            parts.append(f"{self.totals['unknown']:,} labels are not a class of the model.")
        return [" ".join(parts), *(f"{name}: {self.unseen[name]}." for name in self.unseen)]
