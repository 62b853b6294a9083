"""ONNX: fitted ensembles as graphs that run without Python (the extra ``onnx``)."""

try:
    import onnx  # noqa: F401 (only to see whether it is there)
except ImportError as error:
    raise ImportError(
        "to_onnx needs onnx, which is not installed: pip install 'skliquid[onnx]'."
    ) from error

from skliquid.onnx.export import to_onnx

__all__ = ["to_onnx"]
