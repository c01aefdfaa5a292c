"""What to say of things that are not known here, and what Numba has that the emulator has not."""

import ast
import cmath
import math
import os
from collections.abc import Iterable
from functools import cache

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import ATTRIBUTES, INTRINSICS
from course_lib.emulator.language.names import (
    REGISTERS_WITH_AXES,
    Reference,
    belongs_to_cuda,
    did_you_mean,
    names_of_module,
)
from course_lib.emulator.language.types import DTYPES
from course_lib.wording.sentences import Sentence, say

MOST_SHOWN = 160  # characters of a value in a sentence

# Functions of NumPy that Numba compiles in a kernel, at least for some arguments, beside those that
# are among INTRINSICS.
NUMBAS_NUMPY = frozenset(
    "all any argmax dtype mean ndenumerate ndindex nditer prod round sum".split()
)

# The tables below: Numba has it, or may have it on some GPU, and the emulator has not.
# Each name was tried with numba-cuda 0.30, which leaves a few open without a GPU (sum, map, max).
NUMBAS_ARRAY_ATTRIBUTES = frozenset(
    """all any argmax argmin fill imag item itemsize max mean min nbytes prod real reshape
    std sum transpose var view""".split()
)

NUMBAS_NUMBER_ATTRIBUTES = frozenset("bit_count conjugate imag item real view".split())

OF_AN_ARRAY = {
    "append": "The length of an array is fixed. Write to an element by its index, as in out[i] = …",
    "len": "len(a) is the length of an array a; a.shape has one for each axis.",
    "length": "len(a) is the length of an array a; a.shape has one for each axis.",
}

OF_A_NUMBER = {
    "bit_count": "cuda.popc(…) counts the bits that are set.",
    "imag": "A number that is not complex has the imaginary part 0.",
    "view": "course_lib.intrinsics.float_bits(…) gives the bits of a float.",
}

# Names of numba.cuda that no kernel of the emulator uses: they exist all the same.
NUMBAS_CUDA = frozenset(
    "args as_cuda_array bf16 cg current_context device_array driver event fp16 gpus In InOut jit "
    "Out is_available pinned pinned_array reduce Reduce stream synchronize to_device types "
    "ufuncs".split()
)
METHODS_THAT_ALLOCATE = frozenset("astype copy dot flatten ravel sort".split())
_FUNCTIONS_THAT_ALLOCATE = frozenset(
    "arange array asarray copy empty empty_like full full_like linspace ones ones_like zeros "
    "zeros_like".split()
)


def memory_at_run_time(name: str, node: ast.AST) -> KernelRejected | None:
    """The refusal of a new array, where Numba would make it: it does if this switch is on."""
    allocates = name in METHODS_THAT_ALLOCATE or name in _FUNCTIONS_THAT_ALLOCATE
    if not allocates or os.environ.get("NUMBA_CUDA_ENABLE_NRT", "0") in ("", "0"):
        return None
    message = say("{name} makes a new array while the kernel runs.", name=name)
    hint = "The emulator has cuda.local.array and cuda.shared.array, as Numba has by default."
    return rejection("unsupported", message, node, hint)


ENUM_HINT = "The number of a member is its `.value`, such as Color.red.value."

# The builtins that stand in kernels, so that they are what a name near to one of them means.
COMMON_BUILTINS = ("range", "len", "min", "max", "abs", "int", "float", "bool", "round", "print")

_NUMBAS_BUILTINS = (
    "complex filter isinstance iter map next ord repr slice str sum tuple type"
).split()

_NUMBAS_OPERATORS = """add and_ contains eq floordiv ge getitem gt iadd iand ifloordiv ilshift imod
    imul invert inv ior ipow irshift is_ is_not isub itruediv ixor le lshift lt mod mul ne neg not_
    or_ pos pow rshift setitem sub truediv xor""".split()

NUMBAS_FUNCTIONS = frozenset(
    [f"builtins.{name}" for name in _NUMBAS_BUILTINS]
    + [f"operator.{name}" for name in _NUMBAS_OPERATORS]
    + [f"cmath.{name}" for name in dir(cmath) if not name.startswith("_")]
)

# What to do without functions that the emulator does not have.
INSTEAD = {
    "cuda.libdevice": "A function of math, or another one of libdevice, may do the same.",
    "cuda.fp16": "The operators + - * / also work on float16 values, and np.float16(x) converts a "
    "number to float16.",
    "cuda.bf16": "float32 holds every number that bfloat16 holds.",
}

# Builtins that exist in Python, so that using them is a matter of types and not of a typing slip.
PYTHON_NAMES = frozenset(
    (
        "sum sorted list dict set str print enumerate zip map filter any all isinstance type "
        "reversed super object id hash ord chr complex slice iter next callable format repr "
        "tuple"
    ).split()
)


def shown(value: object) -> str:
    """A value as Python writes it, the beginning of a long one."""
    return repr(value)[:MOST_SHOWN]


def unknown_attribute(owner: str, node: ast.Attribute) -> str:
    return say(
        "The emulator does not support .{attribute} of {owner}.", attribute=node.attr, owner=owner
    )


def short_name(reference: Reference) -> str:
    path = reference.path
    for long, short in (
        ("numba.cuda.", "cuda."),
        ("builtins.", ""),
        ("numpy.", "np."),
        ("course_lib.intrinsics.", ""),
    ):
        if path.startswith(long):
            return short + path[len(long) :]
    return path


def hint_at_name(name: str, known: Iterable[str]) -> str | Sentence:
    """What a student may have meant by a name that is not defined, among names that are."""
    if belongs_to_cuda(name):
        return "This name belongs to cuda. Is `cuda.` missing before it?"
    if name in names_of_module("math"):
        return "This name belongs to math. Is `math.` missing before it?"
    if len(name) == 1 and name.isupper():  # the sizes of a matrix, as a text calls them
        return say("Is {name} a size? Which entry of a .shape is {name}?", name=name)
    return did_you_mean(name, known) or "Is the name mistyped, or is an import missing?"


def no_such_name(reference: Reference, node: ast.AST) -> KernelRejected | None:
    """The refusal of a name of cuda or math that does not exist, where another one is near."""
    owner, _, name = reference.path.rpartition(".")
    if not owner.startswith(("numba.cuda", "math")) or hasattr(math, name):
        return None
    siblings = _names_inside(owner)
    if name in siblings or name in DTYPES or name in NUMBAS_CUDA:
        return None
    short = short_name(reference)
    meant = did_you_mean(name, sorted(siblings), short.removesuffix(name))
    message = say("{name} does not exist.", name=short)
    return rejection("compile-error", message, node, meant) if meant else None


@cache
def _names_inside(owner: str) -> frozenset[str]:
    """The names of a module, as numba.cuda, that the emulator knows."""
    inside = f"{owner}."
    known = (full_name for full_name in (*INTRINSICS, *ATTRIBUTES) if full_name.startswith(inside))
    return frozenset(full_name.removeprefix(inside).split(".")[0] for full_name in known)


def lacking(kind: T.Type) -> str:
    """What a type that is no number most likely lacks, as a hint; "" if that cannot be told."""
    if isinstance(kind, T.TupleType):
        if kind.items and all(map(T.is_float, kind.items)):
            return (
                "These are several numbers. Which of them do you mean, or which function takes "
                "them all?"
            )
        return "There are several numbers in the brackets, as in a shape. Which one do you mean?"
    if isinstance(kind, T.ArrayType):
        return "An array holds many numbers. Do you mean its length, or one of its elements?"
    if not isinstance(kind, T.Static) or not isinstance(kind.value, Reference):
        return ""
    path = kind.value.path
    if path in REGISTERS_WITH_AXES:
        return say(
            "{name} has one number for each direction: .x, .y and .z.",
            name=short_name(kind.value),
        )
    if path in INTRINSICS:
        return say(
            "{name} is a function. What should follow it in brackets?", name=short_name(kind.value)
        )
    known = [name.removeprefix("numba.") for name in ATTRIBUTES]  # threadidx.x, threadIdx.X alike
    return did_you_mean(path.removeprefix("numba."), known, alike=0.9)
