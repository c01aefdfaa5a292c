"""Which argument becomes which parameter: by place, by name, by default, and with `*`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.intrinsics import Typed
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.typings import Slot, Slots
from course_lib.wording.sentences import say


def bound(
    kernel: Kernel, node: ast.Call, arguments: Sequence[Typed], keywords: Mapping[str, Typed]
) -> tuple[list[Typed], Slots | None]:
    """What a function's parameters are given, and where from; None if it is simply by place.

    Raises:
        KernelRejected: for names that are no parameters, and defaults that are not known now.
    """
    given = kernel.tree.args
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    fits = len(arguments) == len(kernel.parameters)
    if fits and not (starred or keywords or given.vararg):
        return list(arguments), None
    given_there = places(node, arguments)
    names = kernel.parameters[: -1 if given.vararg else None]
    filled = dict(zip(names, given_there, strict=False))
    for number, (name, typed) in enumerate(keywords.items(), len(arguments)):
        if name in filled or name not in names:
            message = say("{kernel} does not take {name} here.", kernel=kernel.name, name=name)
            raise rejection("compile-error", message, node)
        filled[name] = (typed, Slot(number))
    for name, default in zip(
        names[len(names) - len(given.defaults) :], given.defaults, strict=True
    ):
        if name not in filled:
            filled[name] = _default(kernel, default, node)
    rest = given_there[len(names) :]
    if len(filled) != len(names) or (rest and not given.vararg):
        message = say(
            "{kernel} takes {wanted} arguments, not {given}.",
            kernel=kernel.name,
            wanted=len(names),
            given=len(given_there) + len(keywords),
        )
        hint = say(
            "It is defined as {kernel}({names}).", kernel=kernel.name, names=", ".join(names)
        )
        raise rejection("compile-error", message, node, hint)
    kinds = [filled[name][0] for name in names]
    slots: list[Slot | tuple[Slot, ...]] = [filled[name][1] for name in names]
    if given.vararg:
        kinds.append(Typed(T.TupleType(tuple(each.type for each, _ in rest))))
        slots.append(tuple(slot for _, slot in rest))
    return kinds, tuple(slots)


def places(node: ast.Call, arguments: Sequence[Typed]) -> list[tuple[Typed, Slot]]:
    """The arguments by place, with the items of tuples behind a `*` one by one."""
    found: list[tuple[Typed, Slot]] = []
    for number, (written, typed) in enumerate(zip(node.args, arguments, strict=True)):
        if not isinstance(written, ast.Starred):
            found.append((typed, Slot(number)))
        elif isinstance(typed.type, T.TupleType):
            items = enumerate(typed.type.items)
            found += [(Typed(kind), Slot(number, item)) for item, kind in items]
        else:
            message = say("Only a tuple can follow a `*`, not {type}.", type=typed.type)
            raise rejection("compile-error", message, written)
    return found


def _default(kernel: Kernel, default: ast.expr, node: ast.Call) -> tuple[Typed, Slot]:
    try:
        value = evaluate_constant(default, kernel.namespace)
    except NotConstant:
        value = kernel  # no number
    if value is None:
        return Typed(T.Static(None)), Slot()
    kind = T.type_of_scalar(value)
    if kind is None:
        message = say("The emulator takes only numbers as default values, unlike this one of "
        "{kernel}.",
                      kernel=kernel.name)  # fmt: skip
        raise rejection("unsupported", message, node, "Pass every argument.")
    return Typed(kind, value if type(value) is int else None), Slot(default=kind.type(value))


@dataclass(frozen=True)
class Closure:
    """A function defined inside a kernel."""

    kernel: Kernel


@dataclass(frozen=True)
class Variable:
    """What is known of a variable at one point; not `certain` if some path does not set it."""

    typed: Typed
    certain: bool = True


Environment = dict[str, Variable]
