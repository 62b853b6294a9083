"""A hash of a value and of the code that belongs to it."""

import inspect
import io
import pickle
import sys
from pathlib import Path
from typing import Any

import joblib


def value_hash(name: str, value: object) -> str:
    """Return a hash of a setting, which changes when the code of its functions and classes does.

    A pickle holds functions by name only, so the source of their modules is added.
    """
    pickler = _CodePickler(io.BytesIO())
    try:
        pickler.dump(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"{name} must be picklable to be in a checkpoint: {value!r} is not ({error}). Define "
            "its functions and classes in a module, or give no checkpoint."
        ) from error
    return str(joblib.hash([value, sorted(pickler.sources)]))


class _CodePickler(pickle.Pickler):
    """A pickler that collects the source of all functions and classes in a value."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file)
        self.sources: set[bytes] = set()

    def reducer_override(self, obj: Any) -> Any:
        if inspect.isfunction(obj) or inspect.isclass(obj):
            self.sources.add(_source(obj))
        return NotImplemented


def _source(obj: Any) -> bytes:
    file = getattr(sys.modules.get(obj.__module__), "__file__", None)
    if file is not None or obj.__module__ != "__main__":  # built-in modules have no file
        return Path(file).read_bytes() if file else b""
    try:
        return inspect.getsource(obj).encode()
    except (OSError, TypeError) as error:
        raise pickle.PicklingError(f"the code of {obj.__qualname__} is in no file") from error
