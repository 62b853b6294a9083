"""Numbers of four machines as one value, and whole rows eight numbers at a time.

The compiler makes vector instructions of plain loops too, but wraps each in checks that cost more
than a row of a few dozen numbers, and does not see that four machines take the same steps. Here
the length of a row is a multiple of ``WIDTH``, and a ``Four`` holds a number of each machine.
"""

import operator
from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

WIDTH = 8
_CACHE_LINE = 64
_ANY_ORDER = ("reassoc", "nsz", "contract")
_INDEX, _DOUBLE = ir.IntType(64), ir.DoubleType()
_DOUBLES, _FOUR = ir.VectorType(_DOUBLE, WIDTH), ir.VectorType(_DOUBLE, 4)


class FourType(types.Type):
    """The type of four numbers that are computed with at once, each on its own."""

    def __init__(self) -> None:
        super().__init__(name="Four")


four_type = FourType()


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FOUR)


@intrinsic
def four(typing_context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return four numbers as one value."""

    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        value = _FOUR(ir.Undefined)
        for k, number in enumerate(numbers):
            value = builder.insert_element(value, number, _place(k))
        return value

    return four_type(*[types.float64] * 4), generate


@intrinsic
def parts(typing_context: Any, value: Any) -> Any:
    """Return the four numbers of a value."""
    numbers = types.UniTuple(types.float64, 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        each = [builder.extract_element(arguments[0], _place(k)) for k in range(4)]
        return context.make_tuple(builder, numbers, each)

    return numbers(four_type), generate


@intrinsic
def alike(typing_context: Any, number: Any) -> Any:
    """Return a number four times."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _alike(builder, arguments[0])

    return four_type(types.float64), generate


def _define_operator(symbol: Any, name: str) -> None:
    """Let ``symbol`` take a ``Four`` and another, or a number that stands for four."""

    @type_callable(symbol)
    def _(context: Any) -> Any:
        def kind_of(a: Any, b: Any) -> Any:
            is_four = [isinstance(each, FourType) for each in (a, b)]
            is_number = [isinstance(each, types.Number) for each in (a, b)]
            return four_type if any(is_four) and sum(is_four + is_number) == 2 else None

        return kind_of

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pair = []
        for kind, value in zip(signature.args, arguments, strict=True):
            is_four = isinstance(kind, FourType)
            number = value if is_four else context.cast(builder, value, kind, types.float64)
            pair.append(number if is_four else _alike(builder, number))
        return getattr(builder, name)(*pair)

    for kinds in ((FourType, FourType), (FourType, types.Number), (types.Number, FourType)):
        lower_builtin(symbol, *kinds)(generate)


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.imul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_operator(_symbol, _name)


@type_callable(abs)
def _(context: Any) -> Any:
    return lambda value: four_type if isinstance(value, FourType) else None


@lower_builtin(abs, FourType)
def _(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = ir.FunctionType(_FOUR, [_FOUR])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.fabs.v4f64")
    return builder.call(function, arguments)


@intrinsic
def where_at_most(typing_context: Any, value: Any, limit: Any, then: Any, otherwise: Any) -> Any:
    """Return ``then`` where ``value`` is at most ``limit``, and ``otherwise`` elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        is_small = builder.fcmp_ordered("<=", *arguments[:2])
        return builder.select(is_small, *arguments[2:])

    return four_type(*[four_type] * 4), generate


@intrinsic
def are_above(typing_context: Any, value: Any, limit: Any) -> Any:
    """Return whether all of ``value`` are above ``limit``, which not-a-number never is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered(">", *arguments), ir.IntType(4))
        return builder.icmp_unsigned("==", bits, ir.IntType(4)(15))

    return types.boolean(four_type, four_type), generate


@intrinsic
def as_single(typing_context: Any, value: Any) -> Any:
    """Return numbers rounded to single precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        singles = builder.fptrunc(arguments[0], ir.VectorType(ir.FloatType(), 4))
        return builder.fpext(singles, _FOUR)

    return four_type(four_type), generate


@intrinsic
def dots(typing_context: Any, W: Any, machines: Any, X: Any, rows: Any) -> Any:
    """Return the products of four rows of W and four rows of X, summed in any order."""
    signature = four_type(W, machines, X, rows)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums = []
        for k in range(4):
            w, width = _row(context, builder, signature.args[:2], arguments[:2], k)
            x, _ = _row(context, builder, signature.args[2:], arguments[2:], k)
            sums.append(_dot(builder, w, x, width))
        return _added_up(builder, sums)

    return signature, generate


@intrinsic
def scores_of_four(typing_context: Any, W: Any, machine: Any, X: Any, rows: Any) -> Any:
    """Return the products of a row of W, the only one named, and four rows of X, in any order."""
    signature = four_type(W, machine, X, rows)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w, width = _row(context, builder, signature.args[:2], arguments[:2], 0)
        each = [_row(context, builder, signature.args[2:], arguments[2:], k)[0] for k in range(4)]
        sums = [cgutils.alloca_once(builder, _DOUBLES) for _ in each]
        for total in sums:
            builder.store(_DOUBLES([0.0] * WIDTH), total)
        with cgutils.for_range_slice(builder, _INDEX(0), width, _INDEX(WIDTH), _INDEX) as (j, _):
            weights = _loaded(builder, w, j)
            for x, total in zip(each, sums, strict=True):
                product = builder.fmul(weights, _loaded(builder, x, j), flags=_ANY_ORDER)
                _add_to(builder, total, _widened(builder, product))
        return _added_up(builder, [_halved(builder, builder.load(total)) for total in sums])

    return signature, generate


_NEIGHBOURS = ([0, 4, 2, 6], [1, 5, 3, 7])
_HALVES = ([0, 1, 4, 5], [2, 3, 6, 7])


@intrinsic
def add_and_look_ahead(
    typing_context: Any, W: Any, machines: Any, X: Any, rows: Any, factors: Any, following: Any
) -> Any:
    """Add factors times rows of X to W; return products with the rows following, and squares.

    Each number added is rounded on its own; the products, and the squares of what W then holds, are
    summed in any order. To do all in one pass saves loading W again, and waiting for what was just
    stored.
    """
    both = types.UniTuple(four_type, 2)
    signature = both(W, machines, X, rows, four_type, following)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        products, squares = [], []
        for k in range(4):
            w, width = _row(context, builder, signature.args[:2], arguments[:2], k)
            x, _ = _row(context, builder, signature.args[2:4], arguments[2:4], k)
            z, _ = _row(
                context, builder, [signature.args[2], None], [arguments[2], arguments[5]], k
            )
            factor = _spread(builder, arguments[4], k)
            added = partial(_products_after_addition, builder, w, x, z, factor)
            product, square = _summed(builder, added, width, 2)
            products.append(product)
            squares.append(square)
        return context.make_tuple(
            builder, both, [_added_up(builder, products), _added_up(builder, squares)]
        )

    return signature, generate


@intrinsic
def add_and_look_ahead_in_order(
    typing_context: Any, W: Any, machines: Any, X: Any, rows: Any, factors: Any, following: Any
) -> Any:
    """Do as ``add_and_look_ahead``, with products that are summed in order.

    Each addition waits for the last, so the four machines take turns: eight numbers of each.
    """
    both = types.UniTuple(four_type, 2)
    signature = both(W, machines, X, rows, four_type, following)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = partial(_row, context, builder)
        _, width = row(signature.args[:2], arguments[:2], 0)
        each = [
            (
                row(signature.args[:2], arguments[:2], k)[0],
                row(signature.args[2:4], arguments[2:4], k)[0],
                row([signature.args[2], None], [arguments[2], arguments[5]], k)[0],
                _spread(builder, arguments[4], k),
            )
            for k in range(4)
        ]
        total = cgutils.alloca_once_value(builder, _FOUR([0.0] * 4))
        squares = [cgutils.alloca_once_value(builder, _DOUBLES([0.0] * WIDTH)) for _ in each]
        with cgutils.for_range_slice(builder, _INDEX(0), width, _INDEX(WIDTH), _INDEX) as (j, _):
            products = []
            for of_one, square in zip(each, squares, strict=True):
                product, its_square = _products_after_addition(builder, *of_one, j, flags=())
                products.append(_widened(builder, product))
                _add_to(builder, square, _widened(builder, its_square))
            for numbers in _transposed(builder, products):
                builder.store(builder.fadd(builder.load(total), numbers), total)
        of_squares = _added_up(
            builder, [_halved(builder, builder.load(square)) for square in squares]
        )
        return context.make_tuple(builder, both, [builder.load(total), of_squares])

    return signature, generate


@intrinsic
def add_to_averages(
    typing_context: Any, A: Any, machines: Any, X: Any, rows: Any, factors: Any, pulls: Any
) -> Any:
    """Add factors times rows of X times pulls to rows of A, each rounded, where pulls are not zero.

    Most rows of most machines pull at nothing, so this looks before it loads.
    """
    signature = types.void(A, machines, X, rows, four_type, four_type)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for k in range(4):
            pull = builder.extract_element(arguments[5], _place(k))
            with builder.if_then(builder.fcmp_unordered("!=", pull, _DOUBLE(0.0))):
                a, width = _row(context, builder, signature.args[:2], arguments[:2], k)
                x, _ = _row(context, builder, signature.args[2:4], arguments[2:4], k)
                factor, force = (_spread(builder, each, k) for each in arguments[4:])
                with cgutils.for_range_slice(builder, _INDEX(0), width, _INDEX(WIDTH), _INDEX) as (
                    j,
                    _,
                ):
                    step = builder.fmul(_widened(builder, _loaded(builder, x, j)), factor)
                    _add_at(builder, _eight(builder, a, j), builder.fmul(step, force))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def fetch(typing_context: Any, X: Any, rows: Any) -> Any:
    """Ask for rows of X that will be needed soon: shuffled rows are not foreseen by the machine."""
    signature = types.void(X, rows)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read_soon_from_memory = [number(0), number(3), number(1)]
        for k in range(4):
            x, width = _row(context, builder, signature.args, arguments, k)
            n_bytes = context.get_abi_sizeof(x.type.pointee)
            line = _INDEX(_CACHE_LINE // n_bytes)
            with cgutils.for_range_slice(builder, _INDEX(0), width, line, _INDEX) as (j, _):
                place = builder.bitcast(builder.gep(x, [j]), byte)
                builder.call(ask, [place, *to_read_soon_from_memory])
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def take(typing_context: Any, queue: Any, n: Any) -> Any:
    """Return the number in ``queue``, and add ``n`` to it before any other thread looks."""
    signature = types.int64(queue, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        layout = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", layout.data, arguments[1], "monotonic")

    return signature, generate


def _alike(builder: Any, number: Any) -> Any:
    first = builder.insert_element(_FOUR(ir.Undefined), number, _place(0))
    return builder.shuffle_vector(first, first, _places([0] * 4))


def _spread(builder: Any, value: Any, k: int) -> Any:
    """Return the ``k``-th of four numbers, eight times."""
    return builder.shuffle_vector(value, value, _places([k] * WIDTH))


def _add_at(builder: Any, place: Any, step: Any) -> Any:
    """Add to eight numbers where they are, and return them."""
    old = builder.load(place, align=4)
    new = builder.fadd(_widened(builder, old), step)
    if new.type != old.type:
        new = builder.fptrunc(new, old.type)
    builder.store(new, place, align=4)
    return new


def _dot(builder: Any, w: Any, x: Any, width: Any) -> Any:
    """Return the product of two rows as four sums."""

    def product(start: Any) -> Any:
        numbers = _loaded(builder, w, start), _loaded(builder, x, start)
        return [builder.fmul(*numbers, flags=_ANY_ORDER)]

    return _summed(builder, product, width, 1)[0]


def _products_after_addition(
    builder: Any, w: Any, x: Any, z: Any, factor: Any, start: Any, flags: Any = _ANY_ORDER
) -> Any:
    """Add eight numbers of ``x`` times a factor to ``w``; return products by ``z``, and squares."""
    step = builder.fmul(_widened(builder, _loaded(builder, x, start)), factor)
    new = _add_at(builder, _eight(builder, w, start), step)
    with_z = builder.fmul(new, _loaded(builder, z, start), flags=flags)
    return [with_z, builder.fmul(new, new, flags=_ANY_ORDER)]


def _summed(builder: Any, products: Any, width: Any, n_sums: int) -> Any:
    """Return sums of products, four of each, of two chains that need not wait for each other."""
    chains = [cgutils.alloca_once(builder, _DOUBLES) for _ in range(2 * n_sums)]

    def add(start: Any, chains: Any) -> None:
        for chain, numbers in zip(chains, products(start), strict=True):
            _add_to(builder, chain, _widened(builder, numbers))

    for chain in chains:
        builder.store(_DOUBLES([0.0] * WIDTH), chain)
    pairs = builder.and_(width, _INDEX(-2 * WIDTH))
    with cgutils.for_range_slice(builder, _INDEX(0), pairs, _INDEX(2 * WIDTH), _INDEX) as (j, _):
        add(j, chains[:n_sums])
        add(builder.add(j, _INDEX(WIDTH)), chains[n_sums:])
    with builder.if_then(builder.icmp_signed("<", pairs, width)):
        add(pairs, chains[:n_sums])
    return [
        _halved(builder, builder.fadd(builder.load(a), builder.load(b), flags=_ANY_ORDER))
        for a, b in zip(chains[:n_sums], chains[n_sums:], strict=True)
    ]


def _add_to(builder: Any, place: Any, numbers: Any) -> None:
    builder.store(builder.fadd(builder.load(place), numbers, flags=_ANY_ORDER), place)


def _added_up(builder: Any, sums: Any) -> Any:
    """Return the sums of four times four numbers."""
    pairs = [_added_across(builder, sums[k], sums[k + 1], _NEIGHBOURS) for k in (0, 2)]
    return _added_across(builder, *pairs, _HALVES)


def _halved(builder: Any, both: Any) -> Any:
    """Return eight numbers as four sums."""
    low = builder.shuffle_vector(both, both, _places([0, 1, 2, 3]))
    high = builder.shuffle_vector(both, both, _places([4, 5, 6, 7]))
    return builder.fadd(low, high, flags=_ANY_ORDER)


def _added_across(builder: Any, a: Any, b: Any, places: Any) -> Any:
    first, second = (builder.shuffle_vector(a, b, _places(each)) for each in places)
    return builder.fadd(first, second, flags=_ANY_ORDER)


def _row(context: Any, builder: Any, kinds: Any, values: Any, k: int) -> tuple[Any, Any]:
    """Return where a row begins, the ``k``-th of those named, and how many numbers it has."""
    layout = context.make_array(kinds[0])(context, builder, values[0])
    width = builder.extract_value(layout.shape, 1)
    row = builder.extract_value(values[1], k)
    if row.type != _INDEX:
        row = builder.sext(row, _INDEX)
    return builder.gep(layout.data, [builder.mul(row, width)]), width


def _transposed(builder: Any, rows: Any) -> Any:
    """Return four times eight numbers as eight times four."""
    pairs = []
    for first in (0, 1):  # of every two neighbours
        places = [first + 2 * k + WIDTH * n for k in range(WIDTH // 2) for n in (0, 1)]
        pairs.append([builder.shuffle_vector(*rows[n : n + 2], _places(places)) for n in (0, 2)])
    for k in range(WIDTH):
        start = k - k % 2
        places = [start, start + 1, WIDTH + start, WIDTH + start + 1]
        yield builder.shuffle_vector(*pairs[k % 2], _places(places))


def _eight(builder: Any, row: Any, start: Any) -> Any:
    vector = ir.VectorType(row.type.pointee, WIDTH)
    return builder.bitcast(builder.gep(row, [start]), vector.as_pointer())


def _loaded(builder: Any, row: Any, start: Any) -> Any:
    return builder.load(_eight(builder, row, start), align=4)


def _widened(builder: Any, numbers: Any) -> Any:
    return numbers if numbers.type == _DOUBLES else builder.fpext(numbers, _DOUBLES)


def _place(k: int) -> Any:
    return ir.IntType(32)(k)


def _places(places: Any) -> Any:
    return ir.VectorType(ir.IntType(32), len(places))(list(places))
