"""The functions that tile languages share under the same names: element by element, and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_lib.tiles.machine import TileMachine
from course_lib.tiles.values import DTYPES, DType, TileValue, made, promoted
from course_lib.wording.sentences import say


def elementwise(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one value, element by element; options of speed change nothing here."""

    def carry_out(machine: TileMachine, x: Any, **options: Any) -> Any:
        return machine.elementwise(compute, x)

    return carry_out


def pairwise(compute: Callable[..., Any]) -> Callable[..., Any]:
    """The larger or smaller of two: whole numbers stay whole."""

    def carry_out(machine: TileMachine, x: Any, y: Any, **options: Any) -> Any:
        if not isinstance(x, TileValue) and not isinstance(y, TileValue):
            return compute(x, y).item()
        machine.check_shapes(x, y)
        return made(compute(_data(x), _data(y)), promoted(x, y), x, y)

    return carry_out


def _data(value: Any) -> Any:
    return value.data if isinstance(value, TileValue) else value


def reduced(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A sum, a largest element and the like."""

    def carry_out(
        machine: TileMachine,
        x: Any,
        axis: Any = None,
        *,
        keepdims: bool = False,
        keep_dims: bool = False,
        **options: Any,
    ) -> TileValue:
        return machine.reduction(x, axis, keepdims or keep_dims, compute)

    return carry_out


def full(machine: TileMachine, shape: Any, fill_value: Any, dtype: Any) -> TileValue:
    sizes = machine.shape(shape, "full")
    return made(np.full(sizes, _data(fill_value)), dtype_given(machine, dtype))


def zeros(machine: TileMachine, shape: Any, dtype: Any) -> TileValue:
    return full(machine, shape, 0, dtype)


def ones(machine: TileMachine, shape: Any, dtype: Any) -> TileValue:
    return full(machine, shape, 1, dtype)


def where(machine: TileMachine, condition: Any, x: Any, y: Any) -> Any:
    return machine.chosen(condition, x, y)


def astype(machine: TileMachine, x: Any, dtype: Any, **options: Any) -> TileValue:
    kind = dtype_given(machine, dtype)
    if not isinstance(x, TileValue):
        return made(x, kind)
    with np.errstate(all="ignore"):
        return made(x.data, kind, x)


def dtype_given(machine: TileMachine, dtype: Any) -> DType:
    """The type that stands there.

    Raises:
        KernelRejected: if it is none.
    """
    if isinstance(dtype, DType):
        return dtype
    raise machine.refuse(say("The type of the elements is missing here."))


def reshape(machine: TileMachine, x: TileValue, *shape: Any, **options: Any) -> TileValue:
    sizes = machine.shape(shape[0] if len(shape) == 1 else shape, "reshape")
    if np.prod(sizes) != x.data.size:
        message = say("{count} elements do not fill a tile of {shape}.", count=x.data.size,
                      shape=" x ".join(map(str, sizes)))  # fmt: skip
        raise machine.refuse(message)
    return x.like(lambda data: data.reshape(sizes))


def broadcast_to(machine: TileMachine, x: Any, *shape: Any) -> TileValue:
    sizes = machine.shape(shape[0] if len(shape) == 1 else shape, "broadcast_to")
    tile = x if isinstance(x, TileValue) else astype(machine, x, DTYPES["float32"])
    machine.check_shapes(tile, TileValue(np.empty(sizes), tile.dtype))
    return tile.like(lambda data: np.broadcast_to(data, sizes))


def expand_dims(machine: TileMachine, x: TileValue, axis: int) -> TileValue:
    return x.like(lambda data: np.expand_dims(data, axis))


def permute(machine: TileMachine, x: TileValue, *axes: Any) -> TileValue:
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple) else axes
    if order and sorted(order) != list(range(x.data.ndim)):
        raise machine.refuse(say("Name each axis of the tile exactly once, counting from 0."))
    return x.like(lambda data: np.transpose(data, order or None))


def cdiv(machine: TileMachine, x: Any, y: Any) -> int:
    return -(-machine.whole(x, "cdiv") // machine.whole(y, "cdiv"))


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


SHARED: Mapping[str, Callable[..., Any]] = {
    "full": full, "zeros": zeros, "where": where, "reshape": reshape, "cdiv": cdiv,
    "broadcast_to": broadcast_to, "expand_dims": expand_dims, "permute": permute,
    "maximum": pairwise(np.maximum), "minimum": pairwise(np.minimum),
    "sum": reduced(np.sum), "max": reduced(np.max), "min": reduced(np.min),
    "exp": elementwise(np.exp), "exp2": elementwise(np.exp2), "log": elementwise(np.log),
    "log2": elementwise(np.log2), "sqrt": elementwise(np.sqrt), "rsqrt": elementwise(_rsqrt),
    "sin": elementwise(np.sin), "cos": elementwise(np.cos), "floor": elementwise(np.floor),
    "ceil": elementwise(np.ceil), "abs": elementwise(np.abs),
}  # fmt: skip
