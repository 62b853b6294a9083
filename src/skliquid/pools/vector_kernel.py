"""Products and sums of whole rows, eight numbers at a time.

The compiler makes vector instructions of plain loops too, but wraps each in checks that cost more
than a row of a few dozen numbers. Here the length of a row is a multiple of ``WIDTH``.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 8
_ANY_ORDER = ("reassoc", "nsz", "contract")
_INDEX, _DOUBLE = ir.IntType(64), ir.DoubleType()
_DOUBLES = ir.VectorType(_DOUBLE, WIDTH)


@intrinsic
def dot_in_any_order(typing_context: Any, W: Any, m: Any, X: Any, row: Any) -> Any:
    """Return the product of row ``m`` of W and ``row`` of X, summed in any order."""
    signature = types.float64(W, types.int64, X, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w, width = _row(context, builder, signature.args[0], arguments[0], arguments[1])
        x, _ = _row(context, builder, signature.args[2], arguments[2], arguments[3])
        sums = [cgutils.alloca_once_value(builder, _DOUBLES([0.0] * WIDTH)) for _ in range(2)]

        def add(start: Any, total: Any) -> None:
            product = builder.fmul(
                builder.load(_eight(builder, w, start), align=4),
                builder.load(_eight(builder, x, start), align=4),
                flags=_ANY_ORDER,
            )
            product = _widened(builder, product)
            builder.store(builder.fadd(builder.load(total), product, flags=_ANY_ORDER), total)

        pairs = builder.and_(width, _INDEX(-2 * WIDTH))
        with cgutils.for_range_slice(builder, _INDEX(0), pairs, _INDEX(2 * WIDTH), _INDEX) as (
            j,
            _,
        ):
            add(j, sums[0])
            add(builder.add(j, _INDEX(WIDTH)), sums[1])
        with builder.if_then(builder.icmp_signed("<", pairs, width)):
            add(pairs, sums[0])
        both = builder.fadd(builder.load(sums[0]), builder.load(sums[1]), flags=_ANY_ORDER)
        reduce = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(_DOUBLE, [_DOUBLE, _DOUBLES]),
            f"llvm.vector.reduce.fadd.v{WIDTH}f64",
        )
        return builder.call(reduce, [_DOUBLE(0.0), both], fastmath=_ANY_ORDER)

    return signature, generate


@intrinsic
def add(typing_context: Any, W: Any, m: Any, X: Any, row: Any, factor: Any) -> Any:
    """Add ``factor`` times ``row`` of X to row ``m`` of W, each number rounded on its own."""
    signature = types.void(W, types.int64, X, types.int64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w, width = _row(context, builder, signature.args[0], arguments[0], arguments[1])
        x, _ = _row(context, builder, signature.args[2], arguments[2], arguments[3])
        first = builder.insert_element(_DOUBLES(ir.Undefined), arguments[4], ir.IntType(32)(0))
        same = ir.VectorType(ir.IntType(32), WIDTH)([0] * WIDTH)
        factors = builder.shuffle_vector(first, first, same)
        with cgutils.for_range_slice(builder, _INDEX(0), width, _INDEX(WIDTH), _INDEX) as (j, _):
            place = _eight(builder, w, j)
            old = builder.load(place, align=4)
            step = builder.fmul(
                _widened(builder, builder.load(_eight(builder, x, j), align=4)), factors
            )
            new = builder.fadd(_widened(builder, old), step)
            if new.type != old.type:
                new = builder.fptrunc(new, old.type)
            builder.store(new, place, align=4)
        return context.get_dummy_value()

    return signature, generate


def _row(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> tuple[Any, Any]:
    """Return where a row begins, and how many numbers it has."""
    layout = context.make_array(kind)(context, builder, array)
    width = builder.extract_value(layout.shape, 1)
    return builder.gep(layout.data, [builder.mul(row, width)]), width


def _eight(builder: Any, row: Any, start: Any) -> Any:
    vector = ir.VectorType(row.type.pointee, WIDTH)
    return builder.bitcast(builder.gep(row, [start]), vector.as_pointer())


def _widened(builder: Any, numbers: Any) -> Any:
    return numbers if numbers.type == _DOUBLES else builder.fpext(numbers, _DOUBLES)
