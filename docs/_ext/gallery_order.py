"""The order of the gallery: what most readers ask first comes first."""

_FIRST = (
    "plot_first_steps",
    "plot_who_delegated",
    "plot_weight_flow",
    "plot_what_survived",
    "plot_replay",
    "plot_feature_importances",
    "plot_calibration",
    "plot_imbalance",
    "plot_budget",
    "plot_prune_forest",
)


class InTheOrderOfReading:
    """Sorts examples: those of the list, then the others by name."""

    def __init__(self, folder: str):
        self.folder = folder

    def __repr__(self) -> str:
        return type(self).__name__

    def __call__(self, name: str) -> tuple[int, str]:
        """Return the place of the example with this file name."""
        stem = str(name).removesuffix(".py")
        return (_FIRST.index(stem) if stem in _FIRST else len(_FIRST)), stem
