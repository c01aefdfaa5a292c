"""Gives every expression of a kernel its type before anything runs, as Numba's compiler does.

The walk follows the flow of control: where paths meet, a variable gets the one type that holds
the values of all of them. So `acc = 0` followed by `acc += A[i]` in a loop is float64 in the
whole loop, as it is on a GPU. What Numba's compiler would refuse is refused here, with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions.intrinsics import Typed
from course_lib.emulator.inference.flow import MAX_LOOP_PASSES, FlowTyper
from course_lib.emulator.inference.typer import Common, RefusedForNoLiteral
from course_lib.emulator.inference.typings import Closure, Environment, Typing, Variable
from course_lib.emulator.inference.values import OPEN
from course_lib.emulator.language import types as T
from course_lib.emulator.language.definitions import parameters_of
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import EXCEPTIONS, Reference
from course_lib.sentences import say


def infer(kernel: Kernel, argument_types: Sequence[T.Type], remembers: bool = False) -> Typing:
    """The types in `kernel` when it is launched with arguments of these types.

    With `remembers`, device functions keep what they were once found to be, as in Numba.

    Raises:
        KernelRejected: with `compile-error`, `unsupported` or `not-allowed`.
    """
    arguments = [
        Typed(T.INT64, None, each.members)
        if isinstance(each, T.EnumType) and each.is_whole
        else Typed(each)
        for each in argument_types
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
    """Types one function for one set of argument types; a function of its own for each it calls."""

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
        """Where a function calls itself, its other paths say first what it returns."""
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
                    "{kernel} calls itself, and returns {found}, not {declared} as it is declared.",
                    kernel=kernel.name,
                    found=typing.return_type,
                    declared=declared,
                )
                hint = say("{declared}(…) converts what it returns.", declared=declared)
                raise rejection("compile-error", message, kernel.tree, hint)
            result = typing.return_type
        said = say("What {kernel} returns does not settle.", kernel=kernel.name)
        raise rejection("compile-error", said, kernel.tree)

    def run(self, arguments: Sequence[Typed]) -> Typing:
        self.arguments = arguments
        names = self.kernel.parameters
        if len(arguments) != len(names):
            raise rejection(
                "compile-error",
                say(
                    "{kernel} takes {wanted} arguments, not {given}.",
                    kernel=self.kernel.name,
                    wanted=len(names),
                    given=len(arguments),
                ),
                self.kernel.tree,
            )
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
            endless = say("{kernel} calls itself without end.", kernel=self.kernel.name)
            raise rejection("compile-error", endless, self.kernel.tree)
        for call in self.typing.layouts:
            if ast.unparse(call.func).endswith("local.array"):
                message = "The emulator knows no local array in a function that calls itself."
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
            message = "Numba returns no array but one that came in as an argument, by its name."
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
                unknown = say("The emulator does not know {name}.", name=ast.unparse(raised)[:60])
                raise rejection("unsupported", unknown, node, "Raise one of Python's own errors.")
            message = "Numba raises exceptions with constant arguments only."
            raise rejection("compile-error", message, node)

    def is_constant_text(self, node: ast.expr) -> bool:
        """Whether what an exception says is known when the kernel is compiled."""
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
            message = "The emulator knows only plain functions inside a kernel."
            hint = "Leave out decorators."
            raise rejection("unsupported", message, node, hint)
        names = parameters_of(node.args, node)
        inner = replace(self.kernel, name=node.name, parameters=names, tree=node)
        return {**env, node.name: Variable(Typed(T.Static(Closure(inner))))}

    def global_statement(self, node: ast.Global, env: Environment) -> None:
        if self.locals.intersection(node.names) or set(node.names) & set(self.kernel.parameters):
            raise rejection("compile-error", "A kernel cannot change global names.", node)
        hint = "Leave this line out: a kernel reads global names without it."
        raise rejection("unsupported", "The emulator does not know `global`.", node, hint)

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
