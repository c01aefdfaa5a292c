"""Wide accesses and cp.async of `course_lib.intrinsics`, and loads and stores with cache hints.

They refuse what the real functions refuse when they are compiled.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Rule,
    Typed,
    function,
    need,
    supported,
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView
from course_lib.wording.sentences import say

HOME = "course_lib.intrinsics"
LANES = 4
WIDE_COPY, NARROW_COPY = 16, 4  # bytes

NOTHING_RETURNED = "A function without `return` returns None. Does this value come from one?"


# What an argument is called in a refusal, and what refuses another one; None for what is checked
# elsewhere, if at all.
Parameter = tuple[str, Callable[[Typed], object] | None]


def taking(gives: T.Type | Callable[..., T.Type], *parameters: Parameter) -> Rule:
    """The rule of a function of so many arguments, by position.

    `gives` is the type of the result, or makes it of the types of the arguments.
    """

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes its arguments by position")
        said = ", ".join(name for name, _ in parameters) or "no arguments"
        need(
            len(arguments) == len(parameters),
            say("takes {said}", said=said),
            say("How many arguments are in the brackets? It takes {count}.", count=len(parameters)),
        )
        for argument, (_, check) in zip(arguments, parameters, strict=True):
            if check is not None:
                check(argument)
        kinds = (argument.type for argument in arguments)
        return Typed(gives(*kinds) if callable(gives) else gives)

    return typing


def an_array(*sizes: int, name: str = "an array", of: np.dtype | None = None) -> Parameter:
    """A row-major array of elements of some size in bytes, and perhaps of one type."""

    def check(argument: Typed) -> None:
        kind = need_array(argument, sizes)
        known = of is None or kind.dtype == of
        need(known, say("needs {kind}, not {it}", kind=of, it=kind.dtype))

    return name, check


def need_array(argument: Typed, sizes: Sequence[int]) -> T.ArrayType:
    """The type of an argument that must be a row-major array of elements of some size.

    Raises TypingError if it is anything else.
    """
    kind = argument.type
    if not isinstance(kind, T.ArrayType):
        raise T.TypingError(say("needs an array, not {kind}", kind=kind))
    need(
        kind.layout == "C",
        "needs a C-contiguous array: neither a transposed one nor a part of its columns",
    )
    bits = " or ".join(str(8 * size) for size in sizes)
    need(
        kind.dtype.itemsize in sizes,
        say("needs elements of {bits} bits, not {dtype}", bits=bits, dtype=kind.dtype),
    )
    return kind


def _need_index(argument: Typed) -> None:
    need(
        T.is_integer(argument.type),
        say("needs a whole number as index, not {type}", type=argument.type),
        NOTHING_RETURNED if argument.type == T.NOTHING else "",
    )


AN_INDEX: Parameter = ("an index", _need_index)


# -- 16 bytes at once ---------------------------------------------------------------------------


def _four_of(array: T.ArrayType, index: T.Type) -> T.Type:
    return T.TupleType((array.dtype,) * LANES)


@function(f"{HOME}.load4", typing=taking(_four_of, an_array(4), AN_INDEX))
def _load4(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, ...]:
    view, index = values
    return tuple(machine.unit.load_wide(view, index, LANES, machine.active, machine.line))


def _store_typing(count: int) -> Rule:
    def stored(array: T.ArrayType, index: T.Type, given: T.Type) -> T.Type:
        need(array.writable, "cannot write to a read-only array")
        wanted = T.TupleType((array.dtype,) * count)
        need(
            given != array.dtype,
            say("stores {count} numbers, but this call passes only one", count=count),
        )
        need(
            given == wanted,
            say(
                "stores {count} {dtype}, not {given}: cast the values",
                count=count,
                dtype=array.dtype,
                given=given,
            ),
        )
        return T.NOTHING

    return taking(stored, an_array(4), AN_INDEX, (f"a tuple of {count}", None))


@function(f"{HOME}.store4", typing=_store_typing(LANES))
@function(f"{HOME}.store2", typing=_store_typing(2))
def _store(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    view, index, items = values
    machine.unit.store_wide(view, index, items, machine.active, machine.line)


# -- the same for 16-bit numbers, in words of two -----------------------------------------------

_WORDS = T.TupleType((T.UINT32,) * LANES)
_PER_WORD = 2


@function(f"{HOME}.load_words", typing=taking(_WORDS, an_array(2), AN_INDEX))
def _load_words(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, ...]:
    elements = LANES * _PER_WORD
    view, index = values
    halves = machine.unit.load_wide(view, index, elements, machine.active, machine.line)
    bits = halves.view(T.UINT16).astype(T.UINT32)
    return tuple(bits[0::2] | bits[1::2] << np.uint32(16))


def _need_words(argument: Typed) -> None:
    need(argument.type == _WORDS, say("stores four uint32, not {it}", it=argument.type))


FOUR_WORDS: Parameter = ("a tuple of four words", _need_words)


def _if_writable(array: T.ArrayType, *_: T.Type) -> T.Type:
    need(array.writable, "cannot write to a read-only array")
    return T.NOTHING


@function(f"{HOME}.store_words", typing=taking(_if_writable, an_array(2), AN_INDEX, FOUR_WORDS))
def _store_words(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    view, index, words = values
    dtype = view.allocation.dtype
    halves = [
        (word >> np.uint32(shift)).astype(T.UINT16).view(dtype)
        for word in words
        for shift in (0, 16)
    ]
    machine.unit.store_wide(view, index, halves, machine.active, machine.line)


# -- asynchronous copies ------------------------------------------------------------------------


def _if_alike(target: T.ArrayType, _: T.Type, source: T.ArrayType, *__: T.Type) -> T.Type:
    need(
        target.dtype == source.dtype,
        say(
            "copies bytes, so both arrays need the same type, not {target} and {source}",
            target=target.dtype,
            source=source.dtype,
        ),
    )
    return T.NOTHING


def _need_truth(argument: Typed) -> None:
    said = say("needs True or False as its last argument, not {kind}", kind=argument.type)
    need(argument.type == T.BOOL, said)


def _copy(size: int, or_zeros: bool) -> Intrinsic:
    """A copy of so many bytes; with `or_zeros`, its last argument says where zeros are put."""

    sizes = (1, 2, 4, 8) if size == WIDE_COPY else (NARROW_COPY,)
    to, source = an_array(*sizes, name="a shared array"), an_array(*sizes, name="a source")
    valid: list[Parameter] = [("True or False", _need_truth)] if or_zeros else []
    typing = taking(_if_alike, to, AN_INDEX, source, AN_INDEX, *valid)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        target, index, source, source_index = values[:4]
        valid = values[4] if or_zeros else np.True_
        for view, space in ((target, "shared"), (source, "global")):
            _need_space(view, space, node)
        ends = (target, index), (source, source_index)
        elements = size // target.allocation.dtype.itemsize
        machine.copies.start(*ends, elements, valid, machine.active, machine.line)

    return Intrinsic(typing, run)


def _need_space(view: ArrayView, space: str, node: ast.Call) -> None:
    found = view.allocation.space
    if found != space:
        message = (
            "Asynchronous copies go from global to shared memory, but {view} is {found} memory."
        )
        raise rejection("unsupported", message, node, view=view.name, found=found)


@function(f"{HOME}.cp_async_commit", typing=taking(T.NOTHING))
def _commit(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    machine.copies.commit(machine.active)


def _need_count(argument: Typed) -> None:
    count = argument.literal
    need(isinstance(count, int), "needs a constant: a number, or the name of one")
    assert isinstance(count, int)
    need(count >= 0, "needs a count of groups: 0 or more")


@function(f"{HOME}.cp_async_wait", typing=taking(T.NOTHING, ("a count of groups", _need_count)))
def _wait(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    machine.copies.wait(int(values[0]), machine.active, machine.line)


for _size in (WIDE_COPY, NARROW_COPY):
    INTRINSICS[f"{HOME}.cp_async{_size}"] = _copy(_size, or_zeros=False)
    INTRINSICS[f"{HOME}.cp_async{_size}_zfill"] = _copy(_size, or_zeros=True)


@function(f"{HOME}.trigger_next_launch", f"{HOME}.grid_dependency_sync", typing=taking(T.NOTHING))
def _nothing(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    """The emulator's launches follow each other, so there is nothing to wait for."""


# --- Cache hints: `cuda.ldcg(a, i)`, `cuda.stcs(a, i, v)` and others ------------------------------
# A hint changes where the bytes are kept, never their values. They are counted like `a[i]`.


LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


def _array(arguments: Arguments) -> T.ArrayType:
    array, index = arguments[0].type, arguments[1].type
    need(isinstance(array, T.ArrayType), say("needs an array, not {array}", array=array))
    assert isinstance(array, T.ArrayType)
    axes = index.items if isinstance(index, T.TupleType) else (index,)
    need(all(map(T.is_integer, axes)), "needs an integer, or a tuple of integers, as its index")
    need(len(axes) == array.ndim, say("needs {axes} indices", axes=array.ndim))
    number = isinstance(array.dtype, T.Type) and (
        T.is_integer(array.dtype) or T.is_float(array.dtype)
    )
    need(number, say("takes elements that are integers or floats, not {it}", it=array.dtype))
    return array


def _load_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 2, "takes an array and an index")
    return Typed(_array(arguments).dtype)


def _hinted_store_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 3, "takes an array, an index and a value")
    array, value = _array(arguments), arguments[2].type
    need(T.is_scalar(value) and not T.is_complex(value), say("stores numbers, not {it}", it=value))
    supported(
        array.writable, "cannot change a constant array here", "Pass the array to the kernel."
    )
    return Typed(T.NOTHING)


def _global(view: ArrayView, node: ast.Call) -> None:
    if view.allocation.space != "global":
        message = say("{name} reaches global memory only.", name=ast.unparse(node.func))
        raise rejection("unsupported", message, node, "Index this array in the ordinary way.")


def _indices(index: Any) -> tuple[Value, ...]:
    return index if isinstance(index, tuple) else (index,)


def _load(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    _global(values[0], node)
    return machine.load(values[0], _indices(values[1]))


def _hinted_store(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    _global(values[0], node)
    machine.store(values[0], _indices(values[1]), values[2])


for _hint in LOADS:
    INTRINSICS[f"numba.cuda.{_hint}"] = Intrinsic(_load_typing, _load)
for _hint in STORES:
    INTRINSICS[f"numba.cuda.{_hint}"] = Intrinsic(_hinted_store_typing, _hinted_store)
