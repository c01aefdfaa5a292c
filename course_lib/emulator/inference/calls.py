"""Types of calls: device functions, closures, casts, and functions that the emulator knows.

First what a function takes from around it, and whether that means the same where it is called; then
`CallTyper`.
"""

import ast
from collections import ChainMap, Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_ARGUMENTS
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions.builtin_functions import UNROLL
from course_lib.emulator.inference.attributes import MethodTyper
from course_lib.emulator.inference.typer import (
    Closure,
    Environment,
    NotKnownYet,
    RefusedForNoLiteral,
    assigned_names,
    bound,
    places,
)
from course_lib.emulator.inference.unknown_names import (
    INSTEAD,
    NUMBAS_FUNCTIONS,
    NUMBAS_NUMPY,
    lacking,
    memory_at_run_time,
    short_name,
)
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.definitions import parameters_of
from course_lib.emulator.language.intrinsics import INTRINSICS, Atomic, Cast, Intrinsic, Typed
from course_lib.emulator.language.kernel import Kernel, names_with
from course_lib.emulator.language.names import Reference, did_you_mean
from course_lib.emulator.language.operators import as_operator
from course_lib.emulator.language.signatures import Signature, declared_signatures
from course_lib.wording.sentences import say


def own_names(kernel: Kernel) -> frozenset[str]:
    """The names to which a function itself gives values."""
    return assigned_names(kernel) | frozenset(kernel.parameters)


def free_names(kernel: Kernel) -> frozenset[str]:
    """The names that a function takes from around it."""
    nodes = (node for statement in kernel.body for node in ast.walk(statement))
    return frozenset(names_with(nodes, ast.Load)) - own_names(kernel)


def belongs_around(name: str, kernel: Kernel, callers: Sequence[Kernel]) -> bool:
    """Whether a name is a variable of a function within which this one is written."""
    around = (caller for caller in callers if caller is not kernel and _encloses(caller, kernel))
    return any(name in own_names(caller) for caller in around)


def check_names_are_meant(kernel: Kernel, callers: Sequence[Kernel], node: ast.AST) -> None:
    """Refuse a call from a place where a name that the function takes from around it means
    something else.

    A function sees the variables around its definition; here they are looked for among those of the
    functions that are being called. Raises KernelRejected with `unsupported`.
    """
    around = [place for place, caller in enumerate(callers) if _encloses(caller, kernel)]
    if not around:
        return
    wanted = free_names(kernel)
    for caller in callers[around[-1] + 1 :]:
        for name in sorted(wanted & own_names(caller)):
            message = say(
                "{kernel} uses a name {name}, but it is called from {other}, where {name} is a "
                "different variable.",
                kernel=kernel.name,
                name=name,
                other=caller.name,
            )
            hint = say("Give {name} another name in one of the two functions.", name=name)
            raise rejection("unsupported", message, node, hint)


def only_values(kernel: Kernel) -> dict[str, ast.expr]:
    """The values of the variables that are set once, on every path, and are no parameters."""
    stores = Counter(names_with(kernel.nodes))
    return {
        name: value
        for statement in kernel.body
        if isinstance(statement, ast.Assign)
        for name, value in _set_by(statement)
        if stores[name] == 1 and name not in kernel.parameters
    }


def _set_by(statement: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    match statement.targets:
        case [ast.Name(id=name)]:
            yield name, statement.value


def with_constants(closure: Closure, around: Kernel) -> Closure:
    """A function that is passed to another one: as in Numba, it may take along constants only."""
    known: dict[str, Any] = {}
    values = only_values(around)
    for name in free_names(closure.kernel) & own_names(around):
        value = values.get(name)
        try:
            constant = None if value is None else evaluate_constant(value, {})
        except NotConstant:
            continue
        if isinstance(constant, int | float):
            known[name] = constant
    if not known:
        return closure
    names: Any = ChainMap(known, closure.kernel.namespace)  # type: ignore[arg-type]
    return Closure(replace(closure.kernel, namespace=names))


def _encloses(outer: Kernel, inner: Kernel) -> bool:
    return outer.tree is not inner.tree and any(node is inner.tree for node in ast.walk(outer.tree))


# --- The typing of a call -------------------------------------------------------------------------


MAX_CALL_DEPTH = 40

_KEYWORDS_ARE_KNOWN = (
    *("builtins.print", "builtins.range"),
    *("numba.cuda.shared", "numba.cuda.local", "numba.cuda.atomic"),
)
# Functions that convert a member of an IntEnum to a whole number; others have no rule for one.
_TAKE_MEMBERS = (
    *("math.", "builtins.abs", "builtins.range", "numba.cuda.atomic.", "numba.cuda.syncwarp"),
)


class CallTyper(MethodTyper):
    """Types calls."""

    def call(self, node: ast.Call, env: Environment) -> Typed:
        method = self.method(node, env)
        if method is not None:
            return method
        function = self.callee(node, env)
        if len(node.args) + len(node.keywords) > MAX_ARGUMENTS:
            message = say("A call has at most {most} arguments here.", most=MAX_ARGUMENTS)
            raise rejection("not-allowed", message, node)
        several = any(isinstance(value, ast.Starred) for value in node.args)
        if any(keyword.arg is None for keyword in node.keywords) or (
            several and not _takes_star(function)
        ):
            hint = "Write out the arguments one by one."
            raise rejection(
                "unsupported", "The emulator supports only plain arguments.", node, hint
            )
        arguments = [self.expression(argument, env) for argument in node.args]
        keywords = {
            keyword.arg: self.expression(keyword.value, env)
            for keyword in node.keywords
            if keyword.arg
        }
        match function:
            case Closure(kernel=kernel):
                check_names_are_meant(kernel, self.callers, node)
                arguments = self.bind_arguments(node, kernel, arguments, keywords)
                return self.call_function(node, kernel, arguments, {**self.outer, **env})
            case Kernel():
                return self.call_kernel(node, function, arguments, keywords)
            case Reference(dtype=np.dtype() as dtype):
                return self.cast(node, Cast(dtype), arguments)
            case np.dtype():
                return self.cast(node, Cast(function), arguments)
            case Reference() if (other := as_operator(function.path, node)) is not None:
                self.typing.rewritten[node] = other
                return self.expression(other, env)
            case Reference():
                if several:
                    spread = places(node, arguments)
                    arguments = [typed for typed, _ in spread]
                    self.typing.slots[node] = tuple(slot for _, slot in spread)
                if not function.path.startswith(_TAKE_MEMBERS):
                    for argument in node.args:
                        self.refuse_member(argument)
                return self.call_intrinsic(node, function, arguments, keywords)
        raise rejection("compile-error", "This cannot be called.", node)

    def callee(self, node: ast.Call, env: Environment) -> object:
        if isinstance(node.func, ast.Lambda):
            return self.lambda_expression(node.func, env).type.value  # type: ignore[union-attr]
        self.called.add(node.func)
        kind = self.expression(node.func, env).type
        if isinstance(kind, T.Static):
            return kind.value
        if isinstance(kind, T.ArrayType | T.TupleType):
            hint = "Square brackets give you what is in it."
        else:
            number = "This is already a number, so leave the brackets out."
            hint = number if T.is_scalar(kind) else ""
        raise rejection("compile-error", say("{kind} cannot be called.", kind=kind), node, hint)

    def lambda_expression(self, node: ast.Lambda, env: Environment) -> Typed:
        names = parameters_of(node.args, node)
        inner = replace(self.kernel, name="<lambda>", parameters=names, tree=node)
        return Typed(T.Static(Closure(inner)))

    def cast(self, node: ast.Call, cast: Cast, arguments: list[Typed]) -> Typed:
        if len(arguments) != 1 or not T.is_scalar(arguments[0].type):
            raise rejection(
                "compile-error", say("{dtype} takes one number.", dtype=cast.dtype), node
            )
        if T.is_complex(arguments[0].type) and not T.is_complex(cast.dtype):
            message = say("Numba cannot convert a complex number to {dtype}.", dtype=cast.dtype)
            hint = (
                "The parts of a complex number z are z.real and z.imag, and abs(z) is its length."
            )
            raise rejection("compile-error", message, node, hint)
        if not T.is_integer(cast.dtype):
            self.refuse_member(node.args[0])
        self.typing.calls[node] = cast
        return Typed(cast.dtype)

    def call_kernel(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], keywords: dict[str, Typed]
    ) -> Typed:
        if not kernel.is_decorated:
            message = say(
                "{kernel} is a plain Python function. A kernel can call it only if it is "
                "decorated with @cuda.jit(device=True).",
                kernel=kernel.name,
            )
            raise rejection("compile-error", message, node)
        arguments = self.bind_arguments(node, kernel, arguments, keywords)
        return self.call_function(node, kernel, [*map(self.handed_on, arguments)], {})

    def handed_on(self, argument: Typed) -> Typed:
        """An argument of a device function; a function from here takes constants with it."""
        match argument.type:
            case T.Static(value=Closure() as closure):
                return Typed(T.Static(with_constants(closure, self.kernel)))
        return argument

    def bind_arguments(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], keywords: dict[str, Typed]
    ) -> list[Typed]:
        """The arguments in the order of the parameters, and a note of where they come from."""
        # Numbers known now count as literals in a function; a tuple only where it is written out.
        handed = [
            typed
            if type(typed.literal) is not tuple or isinstance(written, ast.Tuple)
            else Typed(typed.type)
            for typed, written in zip(arguments, node.args, strict=True)
        ]
        typed, slots = bound(kernel, node, handed, keywords)
        if slots is not None:
            self.typing.slots[node] = slots
        return typed

    def starred(self, node: ast.Starred, env: Environment) -> Typed:
        return self.expression(node.value, env)

    def call_function(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], outer: Environment
    ) -> Typed:
        if kernel.tree is self.kernel.tree and len(self.callers) > 1:
            return self.call_itself(node, kernel, arguments)
        if any(caller.tree is kernel.tree for caller in self.callers):
            raise rejection(
                "unsupported",
                say("{kernel} calls itself, by way of another function.", kernel=kernel.name)
                if kernel.tree is not self.kernel.tree
                else say("{kernel} calls itself, and is a kernel.", kernel=kernel.name),
                node,
                "A loop can do the same.",
            )
        if len(self.callers) > MAX_CALL_DEPTH:
            hint = "Which of these functions could be a loop?"
            message = "Functions call each other too deeply."
            raise rejection("unsupported", message, node, hint)
        kinds, result = self.declared_types(node, kernel, [typed.type for typed in arguments])
        # A closure sees the variables around it, so its types may differ from call to call.
        known = None if outer else self.common.typings_of(kernel)
        typing = known.get(kinds) if known is not None else None
        if typing is None:
            self.common.enter(4, node)
            depth = self.common.depth
            try:
                given = [Typed(kind) for kind in kinds]
                typing = self.function_typing(kernel, outer, given, result)
            except RefusedForNoLiteral as refused:
                # Numba tries again, with the arguments that are literals. Others may differ.
                if refused.findings[0].code == "unsupported":
                    self.common.without_optional.add(kernel.tree)
                self.common.depth, known = depth, None
                literal = [
                    typed
                    if isinstance(typed.literal, int | tuple) and T.same(typed.type, kind)
                    else Typed(kind)
                    for typed, kind in zip(arguments, kinds, strict=True)
                ]
                typing = self.function_typing(kernel, outer, literal, result)
            self.common.depth -= 4
            typing.return_type = self._as_declared(kernel, typing.return_type, result)
            if known is not None:
                known[kinds] = typing
        self.typing.calls[node] = typing
        return Typed(typing.return_type)

    def _as_declared(self, kernel: Kernel, found: T.Type, declared: np.dtype | None) -> T.Type:
        """What a function returns: a number gets the declared type; nothing else is converted."""
        if declared is None or T.is_scalar(found):
            return declared or found
        message = say(
            "{kernel} is declared to return {declared}, but it returns {found}.",
            kernel=kernel.name,
            declared=declared,
            found=found,
        )
        hint = "Does every path through it end with a `return` of one number?"
        raise rejection("compile-error", message, kernel.tree, hint)

    def call_itself(self, node: ast.Call, kernel: Kernel, arguments: list[Typed]) -> Typed:
        """A recursive call: with arguments of the same types, as Numba requires."""
        kinds, _ = self.declared_types(node, kernel, [typed.type for typed in arguments])
        if self.outer:
            message = say(
                "{kernel} is defined inside a function, and calls itself.", kernel=kernel.name
            )
            raise rejection("compile-error", message, node, "A device function may do this.")
        same = len(kinds) == len(self.arguments) and all(
            T.same(kind, argument.type) and argument.literal is None
            for kind, argument in zip(kinds, self.arguments, strict=True)
        )
        if not same:
            message = say("{kernel} calls itself with other types.", kernel=kernel.name)
            hint = (
                "Give it a signature, such as int64(int64), so that they are the same in every "
                "call."
            )
            raise rejection("unsupported", message, node, hint)
        self.typing.levels = max(self.typing.levels, self.common.depth - self.entered + 4)
        if self.own_result is None:
            raise NotKnownYet
        self.typing.calls[node] = self.typing
        return Typed(self.own_result)

    def declared_types(
        self, node: ast.Call, kernel: Kernel, kinds: list[T.Type]
    ) -> tuple[tuple[T.Type, ...], np.dtype | None]:
        """The types of a function's parameters for these arguments, and its declared result."""
        declared = declared_signatures(kernel)
        exact = [
            signature for signature in declared if len(declared) > 1 and _fits(signature, kinds)
        ]
        if len(declared) > 1 and not exact:
            message = "{kernel} has several signatures, and none fits these types exactly."
            hint = "To choose one of them, put a cast such as np.float32(…) around each argument."
            raise rejection("unsupported", message, node, hint, kernel=kernel.name)
        if not declared:
            return tuple(kinds), None
        signature = (exact or declared)[0]
        try:
            return signature.cast(kinds), signature.result
        except T.TypingError as error:
            code = "unsupported" if isinstance(error, T.NotEmulated) else "compile-error"
            message = say("{kernel} {said}.", kernel=kernel.name, said=error.said)
            raise rejection(code, message, node) from None

    def call_intrinsic(
        self,
        node: ast.Call,
        function: Reference,
        arguments: list[Typed],
        keywords: dict[str, Typed],
    ) -> Typed:
        intrinsic = INTRINSICS.get(function.path)
        if intrinsic is None:
            raise self.unknown_function(node, function)
        if function.path == UNROLL and node not in self.loop_heads:
            message = say("{name} can be used only directly in a `for` line.", name="unroll")
            raise rejection("compile-error", message, node)
        try:
            loop = self.ufunc_into_array(node, function, arguments)
            if loop is not None:
                return loop
            typed = intrinsic.typing(arguments, keywords)
        except T.TypingError as error:
            raise self.refused_call(node, function, intrinsic, error) from None
        self.typing.calls[node] = intrinsic
        if isinstance(typed.type, T.ArrayType):
            shape = typed.literal
            self.typing.layouts[node] = shape if isinstance(shape, tuple) else (int(shape or 0),)
        return typed

    def refused_call(
        self, node: ast.Call, function: Reference, intrinsic: Intrinsic, error: T.TypingError
    ) -> KernelRejected:
        name = short_name(function)
        if isinstance(error, T.NotEmulated):
            return rejection(
                "unsupported", say("{name} {said}.", name=name, said=error.said), node, error.hint
            )
        kinds = [self.typing.types.get(argument) for argument in node.args]
        if isinstance(intrinsic, Atomic):  # its first argument is meant to be an array
            del kinds[:1]
        if function.path.startswith("course_lib."):  # these take arrays, and tuples
            kinds = [kind for kind in kinds if not isinstance(kind, T.ArrayType | T.TupleType)]
        hint = error.hint
        if isinstance(error, T.LiteralNeeded):
            hint = hint or self.no_number_of_pythons(node)
            kinds = [kind for kind in kinds if not isinstance(kind, T.TupleType)]  # as a shape is
        hint = hint or next((said for kind in kinds if kind if (said := lacking(kind))), "")
        refusal = rejection(
            "compile-error", say("{name} {said}.", name=name, said=error.said), node, hint
        )
        if isinstance(error, T.LiteralNeeded):
            return RefusedForNoLiteral(refusal)
        if node.keywords and not function.path.startswith(_KEYWORDS_ARE_KNOWN):
            message = "The emulator does not support arguments by keyword in calls of {name}."
            return rejection("unsupported", message, node, "Pass them by position.", name=name)
        return refusal

    def no_number_of_pythons(self, call: ast.Call) -> str:
        """A constant from outside that Numba treats as a number, but not as a literal."""
        names = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
        for name in sorted(names - self.typing.own):
            if isinstance(self.kernel.namespace.get(name), np.integer):
                return say(
                    "{name} is a NumPy number, but Numba needs a Python number here. Write "
                    "int({name}) outside the kernel.",
                    name=name,
                )
        return ""

    def unknown_function(self, node: ast.Call, function: Reference) -> Exception:
        name, path = short_name(function), function.path
        if path.removeprefix("numpy.") in NUMBAS_NUMPY:
            hint = "math has most of these functions. For the rest, use min, max and operators."
        elif path.startswith("numpy."):
            return self.unknown_of_numpy(node, name, path.removeprefix("numpy."))
        elif path.startswith(("numba.cuda.", "math.")):
            last = "Which operators, or which other functions of math, do the same?"
            hint = next((h for start, h in INSTEAD.items() if name.startswith(start)), last)
        elif path in NUMBAS_FUNCTIONS:
            hint = INSTEAD.get(name, "Use operators and loops over range() instead.")
        else:
            message = say("{name} cannot be called inside a kernel.", name=name)
            return rejection("compile-error", message, node)
        message = say("The emulator does not support {name}.", name=name)
        return rejection("unsupported", message, node, hint)

    def unknown_of_numpy(self, node: ast.Call, name: str, in_numpy: str) -> Exception:
        message = say(
            "{name} cannot be used inside a kernel: Numba has few NumPy functions there.", name=name
        )
        hint = "Compute each element by itself, with loops and functions from `math`."
        near = did_you_mean(name.removeprefix("np."), T.DTYPES, "np.")
        allocating = memory_at_run_time(in_numpy, node)
        return allocating or rejection("compile-error", message, node, near or hint)


def _takes_star(function: object) -> bool:
    """Whether a tuple behind a `*` may be the arguments: for own functions and those of math."""
    of_numbers = ("math.", "cmath.", "builtins.complex")
    known = isinstance(function, Reference) and function.path.startswith(of_numbers)
    return known or isinstance(function, Closure | Kernel)


def _fits(signature: Signature, kinds: list[T.Type]) -> bool:
    """Whether a declared signature has exactly these types."""
    try:
        return signature.cast(kinds) == tuple(kinds)
    except T.TypingError:
        return False
