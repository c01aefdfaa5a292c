"""cuTile's functions (`cuda.tile`): arrays are cut into tiles, and a block loads and stores these.

NVIDIA, cuTile Python 1.7, reference of `cuda.tile`: what a tile past an array's edge holds, which
types `mma` takes, and that one wholly outside is undefined behaviour.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.tiles.elementwise import SHARED, astype, dtype_given, elementwise, ones, permute
from course_lib.tiles.machine import TileMachine
from course_lib.tiles.memory import ArrayArgument
from course_lib.tiles.values import DTYPES, Array, TileValue, Unknown, made, promoted
from course_lib.wording.sentences import say

TITLE = "cuTile"
JOINS_TILES = False
UNDETERMINED = "undetermined"
PADDING = {
    "ZERO": 0.0, "NEG_ZERO": -0.0, "NAN": np.nan, "POS_INF": np.inf, "NEG_INF": -np.inf,
}  # fmt: skip
# What a product of tiles adds into, by the type of its sides.
TOTALS = {
    "float16": ("float16", "float32"), "bfloat16": ("float32",), "float32": ("float32",),
    "float64": ("float64",), "int8": ("int32",), "uint8": ("int32",),
}  # fmt: skip


def bid(machine: TileMachine, axis: int) -> int:
    return machine.place[axis]


def num_blocks(machine: TileMachine, axis: int) -> int:
    return machine.grid[axis]


def num_tiles(
    machine: TileMachine, array: ArrayArgument, axis: int, shape: Any, order: Any = "C"
) -> int:
    sizes = _sides(machine, array, shape, "num_tiles")
    return -(-_ordered(machine, array.shape, order)[axis] // sizes[axis])


def load(
    machine: TileMachine,
    array: Any,
    index: Any,
    shape: Any,
    *,
    order: Any = "C",
    padding_mode: Any = UNDETERMINED,
    check_bounds: bool = True,
    **options: Any,
) -> TileValue:
    sizes = _sides(machine, array, shape, "load")
    places, inside = _places(machine, array, index, sizes, order)
    if _is_outside(machine, array, inside, index, check_bounds, "read"):
        unknown = Unknown(np.ones(sizes, bool), array.name, machine.line)
        return TileValue(np.zeros(sizes, array.dtype.storage), array.dtype, unknown)
    cells = np.ravel_multi_index([np.where(inside, place, 0) for place in places], array.shape)
    held = np.full(sizes, 0 if padding_mode == UNDETERMINED else padding_mode).astype(
        array.dtype.storage
    )
    held[inside] = machine.memory.load(array, cells[inside], machine.number, machine.line)
    lacking: Unknown | None = None
    if padding_mode == UNDETERMINED and not inside.all():
        lacking = Unknown(~inside, array.name, machine.line)
    return TileValue(held, array.dtype, lacking)


def store(
    machine: TileMachine,
    array: Any,
    index: Any,
    tile: Any,
    *,
    order: Any = "C",
    check_bounds: bool = True,
    **options: Any,
) -> None:
    if not isinstance(array, ArrayArgument):
        raise machine.refuse(
            say("A tile can be stored only in an array that was passed to the launch.")
        )
    tile = tile if isinstance(tile, TileValue) else made(tile, array.dtype)
    if tile.data.ndim == 0:
        tile = tile.like(lambda data: data.reshape((1,) * len(array.shape)))
    sizes = _sides(machine, array, tile.shape, "store")
    places, inside = _places(machine, array, index, sizes, order)
    if _is_outside(machine, array, inside, index, check_bounds, "write"):
        return
    cells = np.ravel_multi_index([np.where(inside, place, 0) for place in places], array.shape)
    values = tile.like(lambda data: data[inside])
    machine.memory.store(array, cells[inside], values, machine.number, machine.line)


def gather(
    machine: TileMachine,
    array: Any,
    indices: Any,
    *,
    mask: Any = None,
    padding_value: Any = 0,
    check_bounds: bool = True,
    **options: Any,
) -> TileValue:
    places, inside, asked = _scattered(machine, array, indices, mask)
    if not check_bounds and (asked & ~inside).any():
        _tell(machine, array, places, asked & ~inside, "read")
    wanted = asked & inside
    cells = np.ravel_multi_index([np.where(wanted, place, 0) for place in places], array.shape)
    other = padding_value.data if isinstance(padding_value, TileValue) else padding_value
    held = np.array(np.broadcast_to(other, wanted.shape)).astype(array.dtype.storage)
    held[wanted] = machine.memory.load(array, cells[wanted], machine.number, machine.line)
    return made(held, array.dtype, *(value for value in (mask,) if isinstance(value, TileValue)))


def scatter(
    machine: TileMachine,
    array: Any,
    indices: Any,
    value: Any,
    *,
    mask: Any = None,
    check_bounds: bool = True,
    **options: Any,
) -> None:
    places, inside, asked = _scattered(machine, array, indices, mask)
    if not check_bounds and (asked & ~inside).any():
        _tell(machine, array, places, asked & ~inside, "write")
    wanted = asked & inside
    cells = np.ravel_multi_index([np.where(wanted, place, 0) for place in places], array.shape)
    tile = value if isinstance(value, TileValue) else made(value, array.dtype)
    values = tile.like(lambda data: np.broadcast_to(data, wanted.shape)[wanted])
    machine.memory.store(array, cells[wanted], values, machine.number, machine.line)


def arange(
    machine: TileMachine, size: Any, *, dtype: Any, start: Any = 0, step: Any = 1
) -> TileValue:
    (count,) = machine.shape(size, "arange")
    first, apart = machine.whole(start, "arange"), machine.whole(step, "arange")
    return made(first + apart * np.arange(count), dtype_given(machine, dtype))


def mma(machine: TileMachine, x: Any, y: Any, acc: Any, **options: Any) -> TileValue:
    _check_sides(machine, x, y, "mma")
    if x.dtype != y.dtype:
        message = say("mma takes two tiles of one type, not {one} and {other}.",
                      one=x.dtype.name, other=y.dtype.name)  # fmt: skip
        raise machine.refuse(message)
    allowed = TOTALS.get(x.dtype.name, ())
    if not isinstance(acc, TileValue) or acc.dtype.name not in allowed:
        message = say(
            "mma of {sides} adds into {allowed}, not {total}.",
            sides=x.dtype.name,
            allowed=say(" or ").join(allowed),
            total=acc.dtype.name if isinstance(acc, TileValue) else type(acc).__name__,
        )
        raise machine.refuse(message, hint="Which type should the sum have from the start?")
    wanted = (*x.shape[:-1], y.shape[-1])
    if acc.shape != wanted:
        message = say("The sum is a tile of {total}, but the product is one of {product}.",
                      total=_text(acc.shape), product=_text(wanted))  # fmt: skip
        raise machine.refuse(message)
    return machine.product(x, y, acc, acc.dtype)


def matmul(machine: TileMachine, x: Any, y: Any) -> TileValue:
    _check_sides(machine, x, y, "matmul")
    return machine.product(x, y, None, promoted(x, y))


def transpose(
    machine: TileMachine, x: TileValue, axis0: Any = None, axis1: Any = None
) -> TileValue:
    if axis0 is None:
        return permute(machine, x)
    return x.like(lambda data: np.swapaxes(data, axis0, axis1))


def atomic_add(machine: TileMachine, array: Any, indices: Any, update: Any, **options: Any) -> None:
    places, inside, asked = _scattered(machine, array, indices, None)
    wanted = asked & inside
    cells = np.ravel_multi_index([np.where(wanted, place, 0) for place in places], array.shape)
    tile = update if isinstance(update, TileValue) else made(update, array.dtype)
    values = np.broadcast_to(tile.data, wanted.shape)[wanted]
    machine.memory.add(array, cells[wanted], values, machine.number)


def subscripted(machine: TileMachine, owner: Any, parts: Sequence[ast.expr]) -> Any:
    return owner if owner == CONSTANT else None  # Constant[int] in an annotation


def combined(machine: TileMachine, op: ast.operator, left: Any, right: Any) -> Any:
    return None


def argument(machine: TileMachine, array: ArrayArgument) -> ArrayArgument:
    """What the kernel gets for an array of the launch."""
    return array


def _sides(machine: TileMachine, array: Any, shape: Any, what: str) -> tuple[int, ...]:
    if not isinstance(array, ArrayArgument):
        raise machine.refuse(say("{what} takes an array that was passed to the launch.", what=what))
    sizes = machine.shape(shape, what)
    if len(sizes) != len(array.shape):
        message = say("{array} has {axes} axes, but the tile has {sides}.", array=array.name,
                      axes=len(array.shape), sides=len(sizes))  # fmt: skip
        raise machine.refuse(message)
    return sizes


def _ordered(machine: TileMachine, shape: tuple[int, ...], order: Any) -> tuple[int, ...]:
    return tuple(shape[axis] for axis in _axes(machine, len(shape), order))


def _axes(machine: TileMachine, count: int, order: Any) -> tuple[int, ...]:
    axes = {"C": tuple(range(count)), "F": tuple(range(count))[::-1]}.get(order, order)
    if not isinstance(axes, tuple) or sorted(axes) != list(range(count)):
        raise machine.refuse(say("The order has to name each axis exactly once."))
    return axes


def _places(
    machine: TileMachine, array: ArrayArgument, index: Any, sizes: tuple[int, ...], order: Any
) -> tuple[list[Array], Array]:
    """For each element of a tile, where it lies along each axis of the array; is it inside?"""
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) != len(sizes):
        message = say("{count} numbers do not select a tile of {array}.", count=len(parts),
                      array=array.name)  # fmt: skip
        raise machine.refuse(message)
    starts = [machine.whole(part, "an index") * size
              for part, size in zip(parts, sizes, strict=True)]  # fmt: skip
    along = np.indices(sizes)
    places: list[Array] = [np.empty(0)] * len(sizes)
    for axis, of_array in enumerate(_axes(machine, len(sizes), order)):
        places[of_array] = starts[axis] + along[axis]
    ends = [(place >= 0) & (place < size) for place, size in zip(places, array.shape, strict=True)]
    return places, np.logical_and.reduce(ends)


def _is_outside(
    machine: TileMachine, array: ArrayArgument, inside: Array, index: Any, checks: bool, kind: str
) -> bool:
    """Whether a tile is not where the language allows it, which is told."""
    if inside.any() and (checks or inside.all()):
        return False
    parts = index if isinstance(index, tuple) else (index,)
    where = say("tile ({index})", index=", ".join(str(machine.whole(part, "")) for part in parts))
    machine.memory.outside(array, kind, where, machine.number, machine.line)
    return True


def _scattered(
    machine: TileMachine, array: Any, indices: Any, mask: Any
) -> tuple[list[Array], Array, Array]:
    if not isinstance(array, ArrayArgument):
        raise machine.refuse(say("This takes an array that was passed to the launch."))
    parts = indices if isinstance(indices, tuple) else (indices,)
    if len(parts) != len(array.shape):
        message = say("{count} indices do not select an element of {array}.", count=len(parts),
                      array=array.name)  # fmt: skip
        raise machine.refuse(message)
    machine.check_shapes(*parts)
    plain = [part.data if isinstance(part, TileValue) else np.asarray(part) for part in parts]
    places = list(np.broadcast_arrays(*plain))
    ends = [(place >= 0) & (place < size) for place, size in zip(places, array.shape, strict=True)]
    asked = np.ones(places[0].shape, bool)
    if mask is not None:
        asked = np.array(np.broadcast_to(mask.data if isinstance(mask, TileValue) else mask,
                                         asked.shape))  # fmt: skip
    return places, np.logical_and.reduce(ends), asked


def _tell(
    machine: TileMachine, array: ArrayArgument, places: Sequence[Array], wrong: Array, kind: str
) -> None:
    first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    index = ", ".join(str(int(place[first])) for place in places)
    machine.memory.outside(array, kind, f"[{index}]", machine.number, machine.line)


def _check_sides(machine: TileMachine, x: Any, y: Any, what: str) -> None:
    tiles = (
        isinstance(x, TileValue)
        and isinstance(y, TileValue)
        and x.data.ndim > 1
        and y.data.ndim > 1
    )
    if not tiles:
        raise machine.refuse(say("{what} takes two tiles of two axes.", what=what))
    if x.shape[-1] != y.shape[-2]:
        message = say("Tiles of {one} and {other} cannot be multiplied.", one=_text(x.shape),
                      other=_text(y.shape))  # fmt: skip
        raise machine.refuse(message, hint="Which axis of each tile belongs to k?")


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


CONSTANT = "Constant"
NAMES: Mapping[str, Any] = {
    "Constant": CONSTANT,
    "PaddingMode.UNDETERMINED": UNDETERMINED,
    **{f"PaddingMode.{name}": value for name, value in PADDING.items()},
}
METHODS: Mapping[str, str] = {
    name: name for name in ("astype", "reshape", "permute", "transpose")
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **SHARED,
    "bid": bid, "num_blocks": num_blocks, "num_tiles": num_tiles, "load": load, "store": store,
    "gather": gather, "scatter": scatter, "arange": arange, "mma": mma, "matmul": matmul,
    "ones": ones, "astype": astype, "transpose": transpose, "atomic_add": atomic_add,
    "tanh": elementwise(np.tanh),
}  # fmt: skip
assert all(name in DTYPES for name in TOTALS)
