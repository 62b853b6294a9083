"""ONNX: fitted ensembles as graphs that run without Python (the extra ``onnx``)."""

from skliquid.validation.checks import missing_extra

try:
    import onnx  # noqa: F401 (only to see whether it is there)
except ImportError as error:
    raise missing_extra("to_onnx", "onnx", "onnx") from error

from skliquid.onnx.export import to_onnx

__all__ = ["to_onnx"]
