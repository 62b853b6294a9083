"""Model files: ensembles as data, saved and loaded without executing anything."""

from skliquid.model_file.errors import ModelFileError
from skliquid.model_file.saving import load, save

__all__ = ["ModelFileError", "load", "save"]
