"""User warnings: warnings that point at the user's line, however deep they arise."""

import sys
import warnings
from types import FrameType

from skliquid.validation.checks import printable

_LIBRARIES = {"skliquid", "sklearn", "joblib", "skrub", "imblearn", "threadpoolctl"}
_STANDARD = {"contextlib", "threading", "concurrent", "multiprocessing"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called skliquid, directly or through scikit-learn.

    A number of frames, as ``warnings.warn`` takes it, would depend on whether the user called an
    ensemble, a pipeline or a grid search.
    """
    frame = _user_frame(sys._getframe(1))  # noqa: SLF001 (as in the standard library)
    warnings.warn_explicit(
        printable(message, keep="\n"),
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _user_frame(frame: FrameType) -> FrameType:
    """Return the innermost frame outside of libraries, or the outermost one in a thread of them."""
    while _is_of_library(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _is_of_library(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return package in _LIBRARIES or package in _STANDARD
