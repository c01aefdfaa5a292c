"""Gives every expression of a kernel its type before anything runs, as Numba does.

The first functions answer questions about a finished typing (shared memory, float64, atomics);
`infer`, below them, makes one.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from course_lib.emulator.budget import MAX_DEPTH_OF_CALLS
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.inference.flow import MAX_LOOP_PASSES, FlowTyper
from course_lib.emulator.inference.typer import (
    Closure,
    Common,
    Environment,
    RefusedForNoLiteral,
    Variable,
)
from course_lib.emulator.inference.values import OPEN
from course_lib.emulator.language import types as T
from course_lib.emulator.language.definitions import parameters_of
from course_lib.emulator.language.intrinsics import Atomic, Typed
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import EXCEPTIONS, DeviceArray, Reference
from course_lib.emulator.language.typings import Typing
from course_lib.wording.sentences import say


def declared_arrays(typing: Typing) -> Iterator[tuple[ast.Call, bool, np.dtype, int]]:
    """The calls that make shared or local arrays: whether local, the type, how many elements."""
    for function in typing.functions:
        for call, shape in function.layouts.items():
            array = function.types[call]
            assert isinstance(array, T.ArrayType)
            is_local = ast.unparse(call.func).endswith("local.array")
            yield call, is_local, array.dtype, int(np.prod(shape, dtype=object))


def static_shared_bytes(typing: Typing) -> int:
    """The bytes that the static shared arrays of a block take."""
    declared = declared_arrays(typing)
    return sum(
        elements * dtype.itemsize for _, is_local, dtype, elements in declared if not is_local
    )


@lru_cache(maxsize=8)
def bytes_per_lane(typing: Typing) -> int:
    """What the local arrays and the variables of one thread take, at most."""
    total = 0
    for function in typing.functions:
        leaves: dict[str, int] = {}
        for node, kind in function.types.items():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                several = kind.leaves if isinstance(kind, T.TupleType) else 1
                leaves[node.id] = max(several, leaves.get(node.id, 0))
        at_once = MAX_DEPTH_OF_CALLS // function.levels if function.levels else 1
        total += 8 * sum(leaves.values()) * at_once
    for _, is_local, dtype, elements in declared_arrays(typing):
        if is_local:
            total += elements * (dtype.itemsize + 4)
    return total


def device_arrays(typing: Typing) -> dict[DeviceArray, str]:
    """The device arrays that a kernel finds outside, and the names that it has for them."""
    return {
        constant: ast.unparse(node)
        for function in typing.functions
        for node, constant in function.constants.items()
        if isinstance(constant, DeviceArray)
    }


def float64_arrays(typing: Typing) -> set[int]:
    """The lines that make shared or local arrays of float64."""
    return {
        call.lineno
        for function in typing.functions
        for call in function.layouts
        if getattr(function.types[call], "dtype", None) == T.FLOAT64
    }


@lru_cache(maxsize=8)
def may_lack_values(typing: Typing) -> bool:
    """Whether some memory or variable may be read before it is written.

    So may the value of a lane that gives none, in a shuffle.
    """
    return any(
        function.layouts or function.uncertain or any(map(_is_shuffle, function.calls))
        for function in typing.functions
    )


def _is_shuffle(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2].startswith("shfl_")


@lru_cache(maxsize=8)
def orders_by_atomics(typing: Typing) -> bool:
    """Whether threads look at what atomic operations return, and so may wait for each other."""
    return any(map(_looks_at_atomics, typing.functions))


def _looks_at_atomics(typing: Typing) -> bool:
    unseen = {node.value for node in typing.kernel.nodes if isinstance(node, ast.Expr)}
    return any(
        isinstance(target, Atomic) and call not in unseen for call, target in typing.calls.items()
    )


@lru_cache(maxsize=8)
def written_names(typing: Typing) -> frozenset[str] | None:
    """The parameters that the kernel stores into; None if the names do not tell."""
    names: set[str] = set()
    for function in typing.functions:
        targets, own_arrays = _store_targets(function)
        for target in targets:
            if not isinstance(target, ast.Name) or function is not typing:
                return None
            if target.id not in function.kernel.parameters and target.id not in own_arrays:
                return None
            names.add(target.id)
    return frozenset(names)


def _store_targets(typing: Typing) -> tuple[list[ast.expr], set[str]]:
    """What a function stores into, and the names that only ever mean arrays of its own."""
    targets: list[ast.expr] = []
    values: dict[str, list[ast.expr]] = {}
    for node in typing.kernel.nodes:
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            targets.append(node.value)
        elif isinstance(node, ast.Call) and node.args and _stores(typing, node):
            targets.append(node.args[0])
        elif isinstance(node, ast.Assign):
            for name in node.targets:
                if isinstance(name, ast.Name):
                    values.setdefault(name.id, []).append(node.value)
    layouts = typing.layouts
    own = {name for name, given in values.items() if all(value in layouts for value in given)}
    return targets, own


def _stores(typing: Typing, call: ast.Call) -> bool:
    """Whether a call changes the array that is its first argument."""
    function = typing.types.get(call.func)
    stores = (".atomic.", ".random.xoroshiro128p_", "intrinsics.store4", "intrinsics.cp_async16")
    return isinstance(function, T.Static) and any(store in str(function.value) for store in stores)


# --- The inference itself -------------------------------------------------------------------------
# The walk follows the flow of control: where paths meet, a variable gets the one type that holds
# the values of all of them. So `acc = 0` followed by `acc += A[i]` in a loop is float64 in the
# whole loop, as it is on a GPU. What Numba's compiler would refuse is refused here, with its line.


def infer(kernel: Kernel, argument_types: Sequence[T.Type], remembers: bool = False) -> Typing:
    """The types in `kernel` when it is launched with arguments of these types.

    With `remembers`, device functions keep what they were once found to be, as in Numba. Raises
    KernelRejected with `compile-error`, `unsupported` or `not-allowed`.
    """
    arguments = [
        Typed(T.INT64, None, argument_type.members)
        if isinstance(argument_type, T.EnumType) and argument_type.is_whole
        else Typed(argument_type)
        for argument_type in argument_types
    ]
    common = Common(remembers=remembers)
    try:
        return _Inference(kernel, {}, (), common).run(arguments)
    except RefusedForNoLiteral as refused:
        if refused.findings[0].code != "unsupported":
            raise
        common.without_optional.add(kernel.tree)
        common.depth = 0
        return _Inference(kernel, {}, (), common).run(arguments)


class _Inference(FlowTyper):
    """Types one function for one set of argument types, with an inference for each function it
    calls.
    """

    def __init__(self, *context: Any) -> None:
        super().__init__(*context)
        self.returns: list[tuple[T.Type, ast.AST]] = []

    def function_typing(
        self,
        kernel: Kernel,
        outer: Environment,
        arguments: Sequence[Typed],
        declared: T.Type | None,
    ) -> Typing:
        """Types a function; where it calls itself, its other paths decide first what it returns."""
        result, depth = declared, self.common.depth
        for _ in range(MAX_LOOP_PASSES):
            inner = _Inference(kernel, outer, self.callers, self.common)
            inner.own_result = result
            typing = inner.run(arguments)
            self.common.depth = depth
            settled = result is not None and T.same(result, typing.return_type)
            if not typing.levels or settled:
                return typing
            if declared is not None:
                message = say(
                    "{kernel} calls itself and returns {found}, but it is declared to return "
                    "{declared}.",
                    kernel=kernel.name,
                    found=typing.return_type,
                    declared=declared,
                )
                hint = say("{declared}(…) converts what it returns.", declared=declared)
                raise rejection("compile-error", message, kernel.tree, hint)
            result = typing.return_type
        said = say("The type that {kernel} returns never settles.", kernel=kernel.name)
        raise rejection("compile-error", said, kernel.tree)

    def run(self, arguments: Sequence[Typed]) -> Typing:
        self.arguments = arguments
        names = self.kernel.parameters
        if len(arguments) != len(names):
            message = say(
                "{kernel} takes {wanted} arguments, not {given}.",
                kernel=self.kernel.name,
                wanted=len(names),
                given=len(arguments),
            )
            raise rejection("compile-error", message, self.kernel.tree)
        environment = {name: Variable(typed) for name, typed in zip(names, arguments, strict=True)}
        self.given = {name: variable.typed.type for name, variable in environment.items()}
        try:
            end = self.block(self.kernel.body, environment)
        except KernelRejected as refusal:
            if self.literals_decide and refusal.findings[0].code != "not-allowed":
                raise RefusedForNoLiteral(refusal) from None
            raise
        if end is not None and self.returns:
            self.returns.append((T.Static(None), self.kernel.tree))
        if self.typing.levels:
            self.check_calls_of_itself(end is None)
        self.typing.return_type = self._return_type()
        return self.typing

    def check_calls_of_itself(self, returns: bool) -> None:
        """Refuse a function that only calls itself, and one whose calls would share an array."""
        if returns and not self.returns:
            endless = say("{kernel} calls itself forever.", kernel=self.kernel.name)
            raise rejection("compile-error", endless, self.kernel.tree)
        for call in self.typing.layouts:
            if ast.unparse(call.func).endswith("local.array"):
                message = (
                    "The emulator does not support local arrays in a function that calls itself."
                )
                raise rejection("unsupported", message, call, "Pass the array to the function.")

    def _return_type(self) -> T.Type:
        if not self.returns:
            return T.Static(None)
        result, _ = self.returns[0]
        for other, node in self.returns[1:]:
            result = self.unified(result, other, node, "returned values")
        return result

    def return_statement(self, node: ast.Return, env: Environment) -> None:
        kind: T.Type = T.Static(None)
        if node.value is not None:
            kind = self.expression(node.value, env).type
        if kind != T.Static(None) and len(self.callers) == 1:
            hint = "Write the result into an array that is passed in."
            raise rejection("compile-error", "A kernel cannot return a value.", node, hint)
        if isinstance(kind, T.ArrayType) and not self.may_return_array(node):
            message = (
                "Numba can return an array only if it came in as an argument, and only by its name."
            )
            hint = "Let the caller index it, or pass in an array for the result."
            raise rejection("compile-error", message, node, hint)
        self.returns.append((kind, node))

    def may_return_array(self, node: ast.Return) -> bool:
        """Whether Numba lets a function return this array: where it is a function at all.

        One that stands inside another, or is decorated with `inline=True`, is written out.
        """
        if not self.kernel.is_decorated or self.kernel.is_inlined:
            return True
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        return name in self.kernel.parameters and name not in self.locals

    def expression_statement(self, node: ast.Expr, env: Environment) -> Environment:
        self.expression(node.value, env)
        return self.with_walrus(node.value, env)

    def pass_statement(self, node: ast.stmt, env: Environment) -> Environment:
        return env

    def assert_statement(self, node: ast.Assert, env: Environment) -> Environment:
        self.condition(node.test, env)
        return env

    def raise_statement(self, node: ast.Raise, env: Environment) -> None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        given = node.exc.args if isinstance(node.exc, ast.Call) else []
        named = node.exc.keywords if isinstance(node.exc, ast.Call) else []
        known = raised is None or (isinstance(raised, ast.Name) and self.is_exception(raised.id))
        whole = not named and node.cause is None
        if not (known and whole and all(map(self.is_constant_text, given))):
            if isinstance(raised, ast.Attribute):
                unknown = say(
                    "The emulator does not support {name}.", name=ast.unparse(raised)[:60]
                )
                raise rejection("unsupported", unknown, node, "Raise one of Python's own errors.")
            message = "Numba raises exceptions with constant arguments only."
            raise rejection("compile-error", message, node)

    def is_constant_text(self, node: ast.expr) -> bool:
        """Whether the message of an exception is known when the kernel is compiled."""
        if isinstance(node, ast.Tuple):
            return all(map(self.is_constant_text, node.elts))
        if isinstance(node, ast.BinOp):
            return self.is_constant_text(node.left) and self.is_constant_text(node.right)
        return self.fixed_value(node) is not OPEN

    def is_exception(self, name: str) -> bool:
        """Whether a name is that of a class of exceptions, of Python or of the answer's own."""
        value = self.kernel.namespace.get(name)
        own = isinstance(value, Reference) and value.path.startswith("exception.")
        return name in EXCEPTIONS or own

    def function_definition(self, node: ast.FunctionDef, env: Environment) -> Environment:
        if node.decorator_list:
            message = "The emulator supports only plain functions inside a kernel."
            hint = "Leave out decorators."
            raise rejection("unsupported", message, node, hint)
        names = parameters_of(node.args, node)
        inner = replace(self.kernel, name=node.name, parameters=names, tree=node)
        return {**env, node.name: Variable(Typed(T.Static(Closure(inner))))}

    def global_statement(self, node: ast.Global, env: Environment) -> None:
        if self.locals.intersection(node.names) or set(node.names) & set(self.kernel.parameters):
            raise rejection("compile-error", "A kernel cannot change global names.", node)
        hint = "Leave this line out. A kernel can read global names without it."
        raise rejection("unsupported", "The emulator does not support `global`.", node, hint)

    statements: ClassVar = {
        ast.Assign: FlowTyper.assign,
        ast.AnnAssign: FlowTyper.annotated_assign,
        ast.AugAssign: FlowTyper.augmented_assign,
        ast.If: FlowTyper.if_statement,
        ast.While: FlowTyper.while_statement,
        ast.For: FlowTyper.for_statement,
        ast.Break: FlowTyper.break_statement,
        ast.Continue: FlowTyper.continue_statement,
        ast.Return: return_statement,
        ast.Expr: expression_statement,
        ast.Pass: pass_statement,
        ast.Assert: assert_statement,
        ast.Raise: raise_statement,
        ast.FunctionDef: function_definition,
        ast.Global: global_statement,
    }
