"""The functions of NumPy that a program may call, and how large their results may be.

NumPy itself does the work. What is here is a list of its names, each with a look at the arguments
before: how many elements will come out? Nothing that reads a file or holds Python's objects is in
the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np

from course_lib.host.device_array import EmulatedDeviceArray, undefined
from course_lib.tab.fields import Refused

Look = Callable[..., Any]  # refuses arguments of which too much would come
MOST_ELEMENTS = 1 << 20  # of one array
KINDS = "biufc"  # of elements: numbers
_ORDERS = "C F A K ij xy full same valid left right stable quicksort mergesort heapsort".split()


def check_size(shape: Any) -> Any:
    """The shape, if an array of it is small enough."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    whole = all(isinstance(size, (int, np.integer)) and size >= 0 for size in sizes)
    if not whole:
        raise Refused(f"A shape is one or more whole numbers, not {shape!r}.")
    if math.prod(map(int, sizes)) > MOST_ELEMENTS:
        raise Refused(
            f"An array of {' × '.join(map(str, sizes))} elements is too large: {MOST_ELEMENTS:,} "
            "is the most."
        )
    return shape


def must_be_plain(value: Any) -> None:
    """Refuse texts that name something else than elements of numbers, also within a list."""
    if isinstance(value, (tuple, list)):
        for item in value:
            must_be_plain(item)
    elif isinstance(value, str) and value not in _ORDERS:
        if not _is_of_numbers(value):
            raise Refused(f"{value[:40]!r} is not a known type of elements, such as np.float32.")
    elif isinstance(value, np.dtype) and value.kind not in KINDS:
        raise Refused("Only arrays of numbers are known here.")


def _is_of_numbers(name: str) -> bool:
    try:
        return np.dtype(name).kind in KINDS
    except (TypeError, ValueError, SyntaxError):
        return False


def _nothing(*given: Any, **named: Any) -> None:
    """What comes out is no larger than what goes in."""


def _elementwise(*given: Any, **named: Any) -> None:
    check_size(np.broadcast_shapes(*map(np.shape, (*given, *named.values()))))


def _like(array: Any, dtype: Any = None, order: Any = "K", *, shape: Any = ()) -> None:
    check_size(() if shape is None else shape)


def _few_times(array: Any, n: int = 1, **named: Any) -> None:
    if n > 9:
        raise Refused("Differences can be taken at most 9 times here.")


def _two(left: Any, right: Any, *given: Any, **named: Any) -> None:
    _elementwise(left, right)


def _of_shape(shape: Any = (), *given: Any, **named: Any) -> None:
    check_size(shape)


def _of_dimensions(*sizes: Any) -> None:
    check_size(sizes)


def _drawn(place: int) -> Look:
    """Random numbers: the argument of this place, or `size`, is the shape."""

    def look(*given: Any, **named: Any) -> None:
        size = named.get("size", given[place] if len(given) > place else None)
        check_size(() if size is None else size)
        _elementwise(*(value for value in given[:place] if value is not None))

    return look


def _permuted(count: Any, *given: Any, **named: Any) -> None:
    if np.ndim(count) == 0:
        check_size(count)


def _arange(*limits: Any, **named: Any) -> None:
    numbers = [*limits, *(named[name] for name in ("start", "stop", "step") if name in named)]
    if any(np.ndim(number) for number in numbers):
        raise Refused("This is an array, but a number is needed here.")
    start, stop, step = (0, *limits, 1) if len(limits) == 1 else (*limits, 1, 1)[:3]
    step = named.get("step", step)
    check_size(max(0, math.ceil((stop - start) / step)) if step else 0)


def _linspace(start: Any, stop: Any, num: Any = 50, **named: Any) -> None:
    if np.ndim(start) or np.ndim(stop):
        raise Refused("This is an array, but a number is needed here.")
    check_size(num)


def _square(rows: Any, columns: Any = None, *given: Any, **named: Any) -> None:
    columns = named.get("M", columns)
    check_size((rows, rows if columns is None else columns))


def _joined(*given: Any, **named: Any) -> None:
    check_size((sum(map(_elements, (*given, *named.values()))),))


def _elements(value: Any) -> int:
    return sum(map(_elements, value)) if isinstance(value, (tuple, list)) else int(np.size(value))


def product_size(left: Any, right: Any, *given: Any, **named: Any) -> None:
    """Refuse a product of matrices that would be too large."""
    depth = max(np.shape(left)[-1:] or (1,))
    check_size((np.size(left) // max(depth, 1), np.size(right) // max(depth, 1)))


def _outer(*given: Any, **named: Any) -> None:
    check_size(tuple(int(np.size(value)) for value in (*given, *named.values())))


def _tiled(array: Any, times: Any) -> None:
    check_size((int(np.size(array)), *(int(count) for count in np.ravel(times))))


def _repeated(array: Any, times: Any, **named: Any) -> None:
    check_size((int(np.size(array)), int(np.max(times, initial=0))))


def _chosen(numbers: Any, size: Any = None, *given: Any, **named: Any) -> None:
    check_size(numbers if np.ndim(numbers) == 0 else ())
    check_size(() if size is None else size)


def _counted(numbers: Any, *given: Any, **named: Any) -> None:
    least = given[1] if len(given) > 1 else named.get("minlength", 0)
    check_size(max(int(np.max(numbers, initial=0)) + 1, least))


def _binned(numbers: Any, bins: Any = 10, *given: Any, **named: Any) -> None:
    if np.ndim(bins) == 0:
        check_size(bins)


_ELEMENTWISE = """abs absolute add subtract multiply divide true_divide floor_divide mod remainder
    power square sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan
    arctan2 sinh cosh tanh hypot maximum minimum fmax fmin negative sign floor ceil trunc rint round
    around clip where isclose isnan isinf isfinite equal not_equal less less_equal greater
    greater_equal logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_xor
    left_shift right_shift fabs reciprocal deg2rad rad2deg copysign allclose array_equal""".split()
_COMPARING = """assert_allclose assert_array_equal assert_equal assert_array_almost_equal
    assert_almost_equal assert_array_less""".split()
_NO_LARGER = """sum prod mean median average std var min max amin amax argmin argmax any all cumsum
    cumprod sort argsort unique count_nonzero nonzero flatnonzero ravel transpose reshape squeeze
    flip roll trace diagonal copy ndim shape size ascontiguousarray asfortranarray triu tril
    swapaxes expand_dims ptp searchsorted nan_to_num finfo iinfo dtype nansum nanmax nanmin real
    imag linalg.norm random.seed random.shuffle""".split()
_JOINED = "array asarray concatenate stack vstack hstack column_stack".split()
KNOWN: Mapping[str, Look] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(_NO_LARGER, _nothing),
    **{f"testing.{name}": _two for name in _COMPARING},
    **dict.fromkeys(_JOINED, _joined),
    **dict.fromkeys(("zeros", "ones", "empty", "full"), _of_shape),
    **dict.fromkeys(("dot", "matmul", "inner", "vdot"), product_size),
    **dict.fromkeys(("eye", "identity"), _square),
    **dict.fromkeys(("outer", "meshgrid"), _outer),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like"), _like),
    "full_like": lambda array, fill_value, *given, **named: _like(array, *given, **named),
    "tile": _tiled,
    "repeat": _repeated,
    "diff": _few_times,
    "arange": _arange,
    "linspace": _linspace,
    "bincount": _counted,
    "histogram": _binned,
    "broadcast_to": lambda array, shape, **named: check_size(shape),
    "random.default_rng": _nothing,
    "random.RandomState": _nothing,
}
# Methods of a generator of random numbers; the older ones are functions of np.random, too.
DRAWN: Mapping[str, Look] = {
    **dict.fromkeys(("random", "random_sample", "standard_normal"), _drawn(0)),
    **dict.fromkeys(("rand", "randn"), _of_dimensions),
    **dict.fromkeys(("uniform", "normal", "integers", "randint"), _drawn(2)),
    **dict.fromkeys(("exponential", "poisson"), _drawn(1)),
    "choice": _chosen,
    "permutation": _permuted,
    "shuffle": _nothing,
    "seed": _nothing,
}


# Where whole numbers have 32 bits unless something else is said, as in a browser, programs are to
# find the 64 bits that they have elsewhere.
_HAS_32_BITS = np.dtype(int).itemsize == 4
_SUMS = ("sum", "prod", "cumsum", "cumprod", "nansum")


def on_64_bits(function: Callable[..., Any], owner: Any = ()) -> Callable[..., Any]:
    """The function as on a machine of 64 bits; `owner` is the array of which it is a method."""
    if not _HAS_32_BITS:
        return function

    @wraps(function)
    def widened(*given: Any, **named: Any) -> Any:
        return _widened(function, owner, *given, **named)

    return widened


def _widened(function: Callable[..., Any], owner: Any, *given: Any, **named: Any) -> Any:
    name = getattr(function, "__name__", "")
    inputs = [*arrays_in([owner, *given])]
    if "dtype" in named or any(isinstance(argument, np.dtype) for argument in given):
        return function(*given, **named)
    if name in _SUMS and inputs and inputs[0].dtype.kind in "biu":
        named["dtype"] = np.dtype("uint64" if inputs[0].dtype.kind == "u" else "int64")
    if name == "randint":
        named["dtype"] = np.dtype("int64")
    result = function(*given, **named)
    narrow = isinstance(result, np.ndarray) and result.dtype == np.int32
    if narrow and not any(array.dtype == np.int32 for array in inputs):
        return result.astype(np.int64)
    return result


SLOW = frozenset((*DRAWN, "sort", "argsort", "unique", "searchsorted"))  # for their bytes


class NumPy:
    """NumPy as one program sees it: with random numbers of its own, as in a fresh Python."""

    def __init__(self) -> None:
        self.random = np.random.RandomState(0)

    def look_up(self, path: str) -> tuple[Callable[..., Any], Look] | None:
        """The function of this path behind `np.`, and the look at its arguments."""
        name = path.removeprefix("random.")
        if name in DRAWN and name != path and hasattr(self.random, name):
            return on_64_bits(getattr(self.random, name)), DRAWN[name]
        if path not in KNOWN:
            return None
        if path in _OURS:
            return _OURS[path], KNOWN[path]
        owner: Any = np
        for part in path.split("."):
            owner = getattr(owner, part)
        return on_64_bits(owner), KNOWN[path]


def _undefined(array: np.ndarray) -> Any:
    """What nobody has written yet shows that, as on the device."""
    return undefined(array.shape, array.dtype, array.strides)


# Without a seed a run could not be repeated for its figures; then any seed is as good.
_OURS: Mapping[str, Callable[..., Any]] = {
    "empty": lambda *given, **named: _undefined(np.empty(*given, **named)),
    "empty_like": lambda *given, **named: _undefined(np.empty_like(*given, **named)),
    "random.default_rng": lambda seed=0: np.random.default_rng(0 if seed is None else seed),
    "random.RandomState": lambda seed=0: np.random.RandomState(0 if seed is None else seed),
}


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array that holds the elements of this one."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a value, also those in a tuple or a list."""
    if isinstance(value, EmulatedDeviceArray):
        yield value.buffer
    elif isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from arrays_in(item)
