"""A launch's arguments: the types that they have, and their conversion to declared types.

An argument that no launch takes is refused here. A kernel with a declared signature gets its
arguments in the declared types, as Numba hands them over.
"""

import ctypes
import enum
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions.library_functions import STATE
from course_lib.emulator.language import types as T
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.signatures import Declared, Signature, declared_signatures
from course_lib.wording.sentences import say
from course_lib.wording.words import counted


def types_of_arguments(kernel: Kernel, arguments: Sequence[Any]) -> list[T.Type]:
    """The type of each argument of a launch.

    Raises KernelRejected for too many or too few of them, and as `type_of_argument` does.
    """
    names = kernel.parameters
    if len(arguments) != len(names):
        message = say(
            "{kernel} takes {wanted} ({names}), but {given} {were} passed.",
            kernel=kernel.name,
            wanted=counted(len(names), "argument"),
            names=", ".join(names),
            given=len(arguments),
            were="was" if len(arguments) == 1 else "were",
        )
        raise rejection("invalid-launch", message, kernel.tree)
    return [
        T.EnumType(type(value))
        if isinstance(value, enum.IntEnum)
        else type_of_argument(name, value)
        for name, value in zip(names, arguments, strict=True)
    ]


def type_of_argument(name: str, value: Any) -> T.Type:
    """The type of an argument.

    Raises KernelRejected with `invalid-launch` for what no launch takes, else with `unsupported`.
    """
    if isinstance(value, np.ndarray):
        return _type_of_array(name, value)
    if isinstance(value, tuple):
        items = (type_of_argument(f"{name}[{i}]", item) for i, item in enumerate(value))
        return T.TupleType(tuple(items), getattr(type(value), "_fields", ()))
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        return T.EnumType(type(value))
    if isinstance(value, np.void) and T.is_record_type(value.dtype):
        return T.RecordType(value.dtype)
    kind = T.type_of_scalar(value)
    if kind is not None:
        return kind
    raise _no_argument(name, value)


def _type_of_array(name: str, array: np.ndarray) -> T.ArrayType:
    if array.dtype == STATE:
        return T.ArrayType(STATE, array.ndim, array.flags.writeable)
    if isinstance(array, np.ma.MaskedArray):
        message = say("Argument {name} is a masked array, which Numba does not take.", name=name)
        raise rejection(
            "invalid-launch", message, None, say("{name}.filled(…) gives a plain array.", name=name)
        )
    kind = T.type_of_array(array)
    if kind is None:
        raise _unknown_array(name, array)
    return kind


def _no_argument(name: str, value: object) -> KernelRejected:
    """Refuse anything that is no array, no tuple and no number that a kernel takes."""
    if isinstance(value, int):
        message = (
            "Argument {name} is a whole number of more than 64 bits, which no integer type of a "
            "GPU can hold."
        )
        hint = "How large does this number have to be?"
        return rejection("invalid-launch", message, None, hint, name=name)
    if isinstance(value, np.void | np.datetime64 | np.timedelta64):
        what = type(value).__name__
        message = "Argument {name} is of type {what}, which the emulator does not support."
        hint = "Pass the numbers that it consists of one by one."
        return rejection("unsupported", message, None, hint, name=name, what=what)
    return rejection(
        "invalid-launch",
        say(
            "Argument {name} is of type {type}, but a kernel takes only NumPy arrays and numbers.",
            name=name,
            type=type(value).__name__,
        ),
        None,
        "np.array(…) makes an array."
        if isinstance(value, list)
        else "Which arrays or numbers does it consist of?",
    )


def _unknown_array(name: str, array: np.ndarray) -> KernelRejected:
    """Numba has more kinds of arrays than the emulator, but not those of any byte order or mask."""
    if array.dtype.kind in "SUMmV":
        message = say(
            "Argument {name} is an array of {dtype}, which the emulator does not support.",
            name=name,
            dtype=array.dtype,
        )
        hint: str = "It supports booleans, integers, floats of up to 64 bits and complex numbers."
        if array.dtype.names:
            first = array.dtype.names[0]
            hint = say(
                'Pass each field as a separate array, such as {name}["{first}"].copy().',
                name=name,
                first=first,
            )
        return rejection("unsupported", message, None, hint)
    message = say(
        "Argument {name} is an array of {dtype}, which no kernel takes.",
        name=name,
        dtype=array.dtype,
    )
    return rejection(
        "invalid-launch", message, None, say("Is {name}.astype(np.float32) meant?", name=name)
    )


# --- Arguments in the declared types --------------------------------------------------------------


# How Numba converts a number for a parameter that is declared with one of these types.
_HANDED_OVER: dict[str, Callable[[Any], Any]] = {
    **{f"{kind}{bits}": getattr(ctypes, f"c_{kind}{bits}")
       for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}  # fmt: skip
_CONVERT_ARRAY = (
    "On a GPU it would read wrong numbers. Convert the array with .astype(...), "
    "or leave the signature out of @cuda.jit."
)


def as_declared(kernel: Kernel, arguments: Sequence[Any]) -> Sequence[Any]:
    """The arguments in the types that a kernel was declared with, as Numba's launch converts them.

    Raises KernelRejected if the kernel has signatures and the arguments fit none of them.
    """
    try:
        signatures = declared_signatures(kernel)
    except KernelRejected:  # a signature that is not read changes numbers, but no arrays
        if not any(map(_is_number, arguments)):
            return arguments
        raise
    if not signatures:
        return arguments
    try:
        if len(signatures) > 1:
            return _of_several(kernel, arguments, signatures)
        return _fitted(arguments, signatures[0].arguments)
    except KernelRejected as refused:
        declared = next(iter(getattr(kernel.tree, "decorator_list", ())), kernel.jit_call)
        line = getattr(declared, "lineno", kernel.tree.lineno)
        raise KernelRejected(
            [replace(finding, line=line) for finding in refused.findings]
        ) from None


def _of_several(
    kernel: Kernel, arguments: Sequence[Any], signatures: Sequence[Signature]
) -> Sequence[Any]:
    """The arguments under that signature which Numba chooses: the one with just these types.

    With a single signature it never looks; of several it takes another one where that is the only
    one to which the numbers can be converted, and refuses arrays that fit none.
    """
    fitting, refusals = [], []
    for signature in signatures:
        try:
            fitted = _fitted(arguments, signature.arguments)
        except KernelRejected as refusal:
            refusals.append(refusal.findings[0])
            continue
        if all(map(_is_as_it_was, arguments, fitted)):
            return fitted
        fitting.append(fitted)
    if not fitting:
        raise rejection("invalid-launch", refusals[0].message, None, refusals[0].hint)
    if len(fitting) > 1:
        message = "{kernel} has several signatures, and none fits these types exactly."
        hint = "To choose one of them, put a cast such as np.float32(…) around each argument."
        raise rejection("unsupported", message, kernel.tree, hint, kernel=kernel.name)
    return fitting[0]


def _is_as_it_was(given: Any, fitted: Any) -> bool:
    """Whether an argument had the declared type before."""
    if isinstance(given, np.ndarray) and given.ndim:
        return bool(given.dtype == fitted.dtype)
    return T.type_of_scalar(given) == T.type_of_scalar(fitted)


def _is_number(value: Any) -> bool:
    return T.type_of_scalar(value) is not None


def _fitted(values: Sequence[Any], signature: Sequence[Declared]) -> list[Any]:
    """The arguments in the declared types. Raises KernelRejected if that cannot be."""
    if len(values) != len(signature):
        counts = say(
            "The signature has {declared}, but the launch passes {given}.",
            declared=counted(len(signature), "argument"),
            given=len(values),
        )
        raise rejection("invalid-launch", counts, None, "Compare the two, from left to right.")
    pairs = enumerate(zip(values, signature, strict=True), start=1)
    return [_one(position, value, declared) for position, (value, declared) in pairs]


def _one(position: int, value: Any, declared: Declared) -> Any:
    what = say(
        "Argument {position} is declared as {declared}, but it is",
        position=position,
        declared=declared,
    )
    if isinstance(value, np.ndarray) and value.ndim:
        if declared is None:
            return value
        if not isinstance(declared, T.ArrayType) or not _array_fits(value, declared):
            found = say("{what} {dtype}, {axes}-D.", what=what, dtype=value.dtype, axes=value.ndim)
            raise rejection("invalid-launch", found, None, _CONVERT_ARRAY)
        return value.view(declared.dtype)
    if declared is None and _is_number(value):
        message = "The emulator cannot read the type that argument {position} is declared with."
        hint = "Without a signature Numba works out the types by itself."
        raise rejection("unsupported", message, None, hint, position=position)
    try:
        return _handed_over(value, declared)
    except (TypeError, ValueError):
        hint = say("{declared}(…) converts a number before the launch.", declared=declared)
        found = say(
            "{what} {value}, a {type}.", what=what, value=repr(value), type=type(value).__name__
        )
        raise rejection("invalid-launch", found, None, hint) from None


def _array_fits(array: np.ndarray, declared: T.ArrayType) -> bool:
    """Whether a kernel finds an array's numbers in it; a GPU looks at the declared type only."""
    if declared.ndim != array.ndim:
        return False
    wanted, given = declared.dtype, array.dtype
    integers = wanted.kind in "iu" and given.kind in "iu"
    if wanted != given and not (integers and wanted.itemsize == given.itemsize):
        return False
    contiguous = {"C": array.flags.c_contiguous, "F": array.flags.f_contiguous}
    return bool(contiguous.get(declared.layout, True))


def _handed_over(value: Any, declared: Declared) -> Any:
    """A number in its declared type, as Numba's launch makes it; anything else as it is.

    Numba hands numbers over by way of ctypes: an integer wraps around, a float is no integer.
    Raises TypeError for a number that Numba does not convert.
    """
    if not isinstance(declared, np.dtype):
        return value
    name = str(declared)
    if name not in _HANDED_OVER:  # bool, float16 and complex numbers
        return declared.type(value)
    try:
        return declared.type(_HANDED_OVER[name](value).value)
    except OverflowError:  # an integer beyond all floats
        raise TypeError from None
