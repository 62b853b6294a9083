"""Graph and Tensor: an ONNX model while it is built, in formulas like those of NumPy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, checker, helper, numpy_helper

from skliquid.onnx.tree_nodes import leaf_attributes, padded_trees

OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
"""Versions that onnxruntime 1.18 reads, the oldest that is tested."""


class Graph:
    """Nodes and inputs of a model; equal nodes are added once."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._inputs: list[Any] = []
        self._known: dict[bytes, str] = {}

    def input(self, name: str, dtype: Any, width: int) -> "Tensor":
        """Add an input of shape (n_rows, width)."""
        self._inputs.append(_value(name, dtype, [None, width]))
        return Tensor(self, name)

    def constant(self, values: Any) -> "Tensor":
        """Return an array that is part of the model."""
        return self.op("Constant", value=numpy_helper.from_array(np.asarray(values)))

    def op(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> "Tensor":
        """Return the output of an operator; inputs other than tensors are constants."""
        names = [(x if isinstance(x, Tensor) else self.constant(x)).name for x in inputs]
        node = helper.make_node(operator, names, [], domain=domain, **attributes)
        key = node.SerializeToString(deterministic=True)
        if key not in self._known:
            self._known[key] = f"skliquid/{operator}_{len(self._nodes)}"
            node.name = self._known[key]
            node.output.append(node.name)
            self._nodes.append(node)
        return Tensor(self, self._known[key])

    def model(
        self, outputs: dict[str, tuple["Tensor", Any, list[Any]]], **about: Any
    ) -> ModelProto:
        """Return the checked model; ``outputs`` are tensors, their types and shapes, by name."""
        ends = [helper.make_node("Identity", [t.name], [k]) for k, (t, _, _) in outputs.items()]
        graph = helper.make_graph(
            [*self._nodes, *ends],
            "skliquid",
            self._inputs,
            [_value(name, dtype, shape) for name, (_, dtype, shape) in outputs.items()],
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **about)
        checker.check_model(model, full_check=True)
        return model


def _type(dtype: Any) -> int:
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def _value(name: str, dtype: Any, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, _type(dtype), shape)


def _arithmetic(
    operator: str, *, is_reflected: bool = False
) -> Callable[["Tensor", Any], "Tensor"]:
    def method(self: "Tensor", other: Any) -> "Tensor":
        other = other if isinstance(other, Tensor) else np.asarray(other, dtype=np.float64)
        inputs = (other, self) if is_reflected else (self, other)
        return self.graph.op(operator, *inputs)

    return method


@dataclass(frozen=True)
class Tensor:
    """A tensor of a graph; numbers and arrays in formulas become constants in float64."""

    graph: Graph
    name: str

    __array_ufunc__ = None  # an array on the left of an operator leaves the work to the tensor
    __add__ = _arithmetic("Add")
    __radd__ = _arithmetic("Add", is_reflected=True)
    __sub__ = _arithmetic("Sub")
    __rsub__ = _arithmetic("Sub", is_reflected=True)
    __mul__ = _arithmetic("Mul")
    __truediv__ = _arithmetic("Div")
    __rtruediv__ = _arithmetic("Div", is_reflected=True)
    __matmul__ = _arithmetic("MatMul")

    def __neg__(self) -> "Tensor":
        return self.op("Neg")

    def op(self, operator: str, *others: Any, **attributes: Any) -> "Tensor":
        """Return the output of an operator for this tensor and others, or constants."""
        return self.graph.op(operator, self, *others, **attributes)

    def cast(self, dtype: Any) -> "Tensor":
        """Return the tensor in another type."""
        return self.op("Cast", to=_type(dtype))

    def columns(self, positions: Any) -> "Tensor":
        """Return some columns."""
        return self.op("Gather", np.asarray(positions, dtype=np.int64), axis=1)

    def divide_columns(self, divisors: NDArray[Any]) -> "Tensor":
        """Return rows divided by one number per column.

        onnxruntime joins a single number and the matrix product after it, and rounds it to float32.
        So a single column is multiplied by a matrix instead.
        """
        return self / divisors if divisors.size > 1 else self @ (1 / divisors.reshape(1, 1))

    def sum(self, axis: int, *, keepdims: bool = False) -> "Tensor":
        """Return sums over an axis."""
        return self.op("ReduceSum", np.array([axis]), keepdims=int(keepdims))

    def concat(self, *others: "Tensor", axis: int) -> "Tensor":
        """Return tensors joined along an axis."""
        return self.op("Concat", *others, axis=axis) if others else self

    def sum_trees(self, voters: Sequence[Any]) -> "Tensor":
        """Return the sums over the trees of each voter: (n_rows, n_voters, n_outputs).

        The operator of trees returns sums in float32. So it only finds the number of the leaf in
        each tree, which is exact. The values of leaves are looked up and summed in float64.
        """
        trees = padded_trees(voters)
        found = self.op("TreeEnsembleRegressor", domain="ai.onnx.ml", **leaf_attributes(trees))
        first = np.cumsum([0, *(len(tree.values) for tree in trees[:-1])])
        values = np.concatenate([tree.values for tree in trees])
        table = self.graph.constant(values)
        table = table if values.dtype == np.float64 else table.cast(np.float64)
        leaves = table.op("Gather", found.cast(np.int64).op("Add", first))
        shape = np.array([0, len(voters), len(trees) // len(voters), values.shape[1]])
        return leaves.op("Reshape", shape).sum(2)
