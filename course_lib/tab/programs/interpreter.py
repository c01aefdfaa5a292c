"""Walks the host part of a program as text: statement by statement; what is not known is left out.

It is the interpreter of plain functions with arrays among its values. A statement that is not known
is not run, and neither is what needs its result; each is noted with its line, and the walk goes on.
Where Python itself would stop, it ends. Nothing is ever executed: attributes and functions stand in
tables (`objects`, `numpy_functions`, and the host's API), and all work is counted.
"""

from __future__ import annotations

import ast
import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator import Kernel, KernelRejected
from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.errors import rejection
from course_lib.emulator.language.definitions import read_statement, unknown_decorators
from course_lib.emulator.language.names import Unusable
from course_lib.emulator.plain.functions import Function, Scope, stopped
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.tab.fields import Refused
from course_lib.tab.programs.calls import HostCalls
from course_lib.tab.programs.names import (
    KernelNames,
    LeftOut,
    Missing,
    NotRun,
    leaves,
    may_write,
    stored_in,
)
from course_lib.tab.programs.numpy_functions import arrays_in, owner_of
from course_lib.tab.programs.objects import element_size
from course_lib.wording.sentences import say

NOT_KNOWN = ("unsupported", "not-allowed")  # codes of what is left out; at others Python stops
_IN_PLACE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
}


class HostInterpreter(HostCalls):
    """One program while it runs."""

    def run_all(self, body: Sequence[ast.stmt]) -> None:
        """Run the program.

        Raises:
            KernelRejected: where Python would stop, or no steps are left.
        """
        try:
            with np.errstate(all="ignore"):
                for statement in body:
                    with contextlib.suppress(NotRun):  # of a `return` or `break` it is noted
                        self.execute([statement], self.top)
        except BudgetExceeded as stop:
            raise self.timeout(stop.line) from None
        except RecursionError:
            raise rejection("not-allowed", "This is nested too deeply.", None) from None
        finally:
            if self.unfinished:
                self.show("\n")

    # --- statements -------------------------------------------------------------------------

    def statement(self, statement: ast.stmt, scope: Scope) -> Any:
        has_begun = False
        try:
            return self.carry_out(statement, scope)
        except NotRun as reason:
            said, has_begun = reason.said, reason.is_inside
        except Refused as refused:
            said = str(refused)
        except KernelRejected as rejected:
            if rejected.findings[0].code not in NOT_KNOWN:
                raise
            said = rejected.findings[0].message
        line = statement.lineno
        self.left_out.setdefault(line, LeftOut(line, statement.end_lineno or line, said, has_begun))
        self.leave_out(statement, scope)
        if leaves(statement):
            raise NotRun(said, is_inside=True)
        return None

    def leave_out(self, statement: ast.stmt, scope: Scope) -> None:
        """Note that nobody knows what stands in what a statement would have changed."""
        line = statement.lineno
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        for name in (outer for inner in used for outer in self.sets.get(inner, ())):
            self.top.variables[name] = Missing(line)
        for name, in_place in stored_in(statement):
            value = KernelNames(scope).raw(name)
            if in_place and any(True for _ in arrays_in(value)):
                self.lose(value, line)
            elif not in_place or not isinstance(value, Missing):
                scope.variables[name] = Missing(line)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self.lose_arguments(statement.value, scope)

    def lose_arguments(self, call: ast.Call, scope: Scope) -> None:
        """A call that was not made might have changed what it was given; a picture changes nothing.

        What modules do that are not here is not known, and most of them only look.
        """
        root: ast.AST = call
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        names = KernelNames(scope)
        owner = names.raw(root.id) if isinstance(root, ast.Name) else None
        if isinstance(owner, Missing) and owner.module != "random":
            return
        if isinstance(root, ast.Name) and root.id == "print":
            return
        kept = []
        if isinstance(owner, Kernel):
            pairs = zip(call.args, owner.parameters, strict=False)
            kept = [argument for argument, name in pairs if not may_write(owner.tree, name)]
        for node in ast.walk(call):
            if isinstance(node, ast.Name) and node not in kept:
                self.lose(names.raw(node.id), call.lineno)

    def lose(self, value: Any, line: int) -> None:
        """From now on nobody knows what stands in these arrays."""
        for array in arrays_in(value):
            root = owner_of(array)
            self.unknown[id(root)] = root, Missing(line)

    def carry_out(self, statement: ast.stmt, scope: Scope) -> Any:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.bring(statement, scope)
            case ast.FunctionDef():
                self.define(statement, scope)
            case ast.With(items=items, body=body):
                return self.within(items, body, scope)
            case ast.Try():
                return self.tried(statement, scope)
            case ast.Delete(targets=targets):
                for target in targets:
                    if not isinstance(target, ast.Name):
                        raise NotRun("only a name can be deleted here.")
                    scope.variables.pop(target.id, None)
            case ast.Assert():
                self.assertion(statement, scope)
            case ast.Raise():
                stopped(statement, "The program raises an exception here.", code="raised-exception")
            case (
                ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Return()
                | ast.If() | ast.For() | ast.While() | ast.Break() | ast.Continue() | ast.Pass()
            ):  # fmt: skip
                return super().statement(statement, scope)
            case ast.ClassDef():
                raise NotRun("classes are not followed here.")
            case _:
                kind = type(statement).__name__.lower()
                raise NotRun(say("`{kind}` is not followed here.", kind=kind))
        return None

    def bring(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Imports, one name after another."""
        strange = []
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                part: ast.stmt = ast.Import([alias])
                name, module = alias.asname or alias.name.split(".")[0], alias.name
            else:
                part = ast.ImportFrom(statement.module, [alias], statement.level)
                name, module = alias.asname or alias.name, statement.module or "."
            read_statement(ast.copy_location(part, statement), self.program(scope))
            if isinstance(scope.variables.get(name), Unusable):
                root = module.split(".")[0]
                scope.variables[name] = Missing(statement.lineno, root)
                strange.append(root)
        if strange:
            said = say(
                "{module} is not available here; NumPy, math and numba.cuda are.",
                module=", ".join(dict.fromkeys(strange)),
            )
            line = statement.lineno
            self.left_out.setdefault(line, LeftOut(line, statement.end_lineno or line, said))

    def define(self, tree: ast.FunctionDef, scope: Scope) -> None:
        """A kernel, a device function, or a function of the host."""
        read_statement(tree, self.program(scope))
        kernel = scope.variables[tree.name]
        if isinstance(kernel, Unusable):
            raise NotRun(kernel.reason)
        for decorator, _ in unknown_decorators(kernel):
            what = ast.unparse(decorator)
            raise NotRun(say("what @{what} does to a function is not supported here.", what=what))
        if kernel.is_decorated and not kernel.is_for_cpu:
            object.__setattr__(kernel, "compiled", {})  # for types of arguments, as Numba does
            self.kernels += not kernel.is_device
            return
        outside = [node for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal)]
        if outside:
            self.sets[tree.name] = [name for node in outside for name in node.names]
            raise NotRun("a function that sets names outside of itself is not followed here.")
        defaults = tuple(self.value(default, scope) for default in tree.args.defaults)
        function = Function(tree.name, tree, self.top.names, self.outer(scope), defaults)
        self.functions[kernel] = function

    def outer(self, scope: Scope) -> Scope | None:
        """The scope around a function; that of the module is looked up at the end anyway."""
        return None if scope is self.top else scope

    def within(self, items: list[ast.withitem], body: list[ast.stmt], scope: Scope) -> Any:
        with contextlib.ExitStack() as stack:
            for item in items:
                context = self.value(item.context_expr, scope)
                if not hasattr(type(context), "__enter__"):
                    raise NotRun("this `with` is not supported here.")
                entered = stack.enter_context(context)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, entered, scope)
            return self.execute(body, scope)

    def tried(self, statement: ast.Try, scope: Scope) -> Any:
        body = [*statement.body, *statement.orelse, *statement.finalbody]
        try:
            return self.execute(body, scope)
        except KernelRejected as rejected:
            first = rejected.findings[0]
            if first.code == "timeout" or not statement.handlers:
                raise
            why = say("{said} What `except` does then is not followed here.", said=first.message)
            raise NotRun(why) from None

    def assertion(self, statement: ast.Assert, scope: Scope) -> None:
        if self.test(statement.test, scope):
            self.held.append(statement.lineno)
            return
        said = say("This assertion does not hold: {test}.", test=ast.unparse(statement.test))
        stopped(statement, said, code="wrong-result")

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Attribute):
            raise NotRun("an attribute cannot be set here.")
        if isinstance(target, ast.Subscript):
            owner, index = self.value(target.value, scope), self.index(target.slice, scope)
            if isinstance(owner, (np.ndarray, EmulatedDeviceArray)):
                element_size(owner, index)
                self.guarded(target, operator.setitem, owner, index, value)
                return
        super().assign(target, value, scope)

    def updated(self, left: Any, statement: ast.AugAssign, scope: Scope) -> Any:
        if not isinstance(left, np.ndarray):
            right = self.value(statement.value, scope)
            return self.guarded(statement, self.binary, statement.op, left, right)
        if type(statement.op) not in _IN_PLACE:
            raise NotRun("this change of an array is not supported here.")
        right = self.value(statement.value, scope)
        return self.guarded(statement, _IN_PLACE[type(statement.op)], left, right)

    def augment(self, statement: ast.AugAssign, scope: Scope) -> None:
        target = statement.target
        if isinstance(target, ast.Subscript):
            owner, index = self.value(target.value, scope), self.index(target.slice, scope)
            if isinstance(owner, np.ndarray):
                left = self.guarded(target, self.element, owner, index)
                result = self.updated(left, statement, scope)
                self.guarded(target, operator.setitem, owner, index, result)
                return
        super().augment(statement, scope)
