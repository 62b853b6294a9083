"""Graph: the nodes of an ONNX model while it is built; equal nodes are added once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
"""Versions that onnxruntime 1.18 reads, the oldest that is tested."""

_TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.bool_): TensorProto.BOOL,
    np.dtype(object): TensorProto.STRING,
}


class Graph:
    """Nodes, constants and inputs of a model; methods return the names of tensors."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._inputs: list[Any] = []
        self._constants: dict[Any, Any] = {}
        self._known: dict[bytes, str] = {}

    def input(self, name: str, dtype: Any, width: int) -> str:
        """Add an input of shape (n_rows, width)."""
        self._inputs.append(_value(name, dtype, [None, width]))
        return name

    def constant(self, values: Any) -> str:
        """Return the name of an array that is part of the model."""
        array = np.asarray(values)
        content = tuple(array.flat) if array.dtype == object else array.tobytes()
        key = array.dtype, array.shape, content
        if key not in self._constants:
            name = f"skliquid/constant_{len(self._constants)}"
            self._constants[key] = numpy_helper.from_array(array, name)
        return str(self._constants[key].name)

    def op(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Return the output of an operator; inputs that are not names are constants."""
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        node = helper.make_node(operator, names, [], domain=domain, **attributes)
        key = node.SerializeToString(deterministic=True)
        if key not in self._known:
            self._known[key] = f"skliquid/{operator}_{len(self._nodes)}"
            node.name = self._known[key]
            node.output.append(node.name)
            self._nodes.append(node)
        return self._known[key]

    def cast(self, tensor: str, dtype: Any) -> str:
        """Return a tensor in another type."""
        return self.op("Cast", tensor, to=_TYPES[np.dtype(dtype)])

    def columns(self, rows: str, positions: NDArray[Any]) -> str:
        """Return some columns."""
        return self.op("Gather", rows, positions.astype(np.int64), axis=1)

    def sum(self, tensor: str, axis: int, *, keepdims: bool = False) -> str:
        """Return sums over an axis."""
        return self.op("ReduceSum", tensor, np.array([axis]), keepdims=int(keepdims))

    def concat(self, tensors: list[str], axis: int) -> str:
        """Return tensors joined along an axis."""
        return self.op("Concat", *tensors, axis=axis) if len(tensors) > 1 else tensors[0]

    def model(self, outputs: dict[str, tuple[str, Any, list[Any]]], **about: Any) -> ModelProto:
        """Return the checked model; ``outputs`` are tensors, their types and shapes, by name."""
        ends = [helper.make_node("Identity", [t], [k]) for k, (t, _, _) in outputs.items()]
        graph = helper.make_graph(
            [*self._nodes, *ends],
            "skliquid",
            self._inputs,
            [_value(name, dtype, shape) for name, (_, dtype, shape) in outputs.items()],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **about)
        checker.check_model(model, full_check=True)
        return model


def _value(name: str, dtype: Any, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, _TYPES[np.dtype(dtype)], shape)
