"""Types names, literals, tuples and whatever chooses between values."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import INTRINSICS, Typed
from course_lib.emulator.inference.hints import PYTHON_NAMES, hint_at_name
from course_lib.emulator.inference.pruning import Constants
from course_lib.emulator.inference.typer import NotKnownYet, Typer, assigned_names
from course_lib.emulator.inference.typings import Environment, Variable
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import FORBIDDEN_BUILTINS, Reference, Unusable
from course_lib.sentences import say


class ValueTyper(Typer):
    """Types names, literals, tuples and conditional expressions."""

    def constant(self, node: ast.Constant, env: Environment) -> Typed:
        return self.known(node, node.value)

    def name(self, node: ast.Name, env: Environment) -> Typed:
        for scope in (env, self.outer):
            if node.id in scope:
                variable = scope[node.id]
                if not variable.certain:
                    self.typing.uncertain.add(node)
                mixed = variable.typed.type
                if isinstance(mixed, T.Mixed):
                    what = f"values of {node.id}"
                    raise self.without_common_type(mixed.left, mixed.right, node, what)
                return variable.typed
        if node.id in self.locals:
            message = say("{name} is used before it has a value.", name=node.id)
            if any(isinstance(n, ast.NamedExpr) for n in ast.walk(self.kernel.tree)):
                hint = "Let an assignment on a line of its own come first."
                raise rejection("unsupported", message, node, hint)
            before = any(
                isinstance(n, ast.Name) and n.id == node.id and n.lineno < node.lineno
                for n in ast.walk(self.kernel.tree)
                if isinstance(getattr(n, "ctx", None), ast.Store)
            )  # Numba then takes some number, with a warning, if no other path set it
            hint = "A value of its own, on this path or before all paths, makes it defined."
            code = "unsupported" if before else "compile-error"
            raise rejection(code, message, node, hint if before else "")
        return self.known(node, self.global_value(node))

    def global_value(self, node: ast.Name) -> Any:
        try:
            value = self.kernel.namespace[node.id]
        except KeyError:
            return self.builtin(node)
        if isinstance(value, Unusable):
            raise rejection(value.code, value.reason, node, value.hint)
        return value

    def builtin(self, node: ast.Name) -> Any:
        if node.id in FORBIDDEN_BUILTINS:
            raise rejection("not-allowed", say("An answer may not use {name}.", name=node.id), node)
        reference = Reference(f"builtins.{node.id}")
        if reference.path in INTRINSICS or node.id in PYTHON_NAMES:
            return reference
        if self.belongs_around(node.id):
            message = say("{name} belongs to the function around this one.", name=node.id)
            hint = "Pass it as an argument: the emulator hands functions on without their values."
            raise rejection("unsupported", message, node, hint)
        raise rejection(
            "compile-error",
            say("The name {name} is not defined.", name=node.id),
            node,
            hint_at_name(node.id),
        )

    def belongs_around(self, name: str) -> bool:
        """Whether it is a variable of a function within which this one is written."""
        around = (
            each
            for each in self.callers[:-1]
            if any(node is self.kernel.tree for node in ast.walk(each.tree))
        )
        return any(name in (*assigned_names(each), *each.parameters) for each in around)

    def named_expression(self, node: ast.NamedExpr, env: Environment) -> Typed:
        return Typed(self.expression(node.value, env).type)

    def with_walrus(self, node: ast.expr, env: Environment) -> Environment:
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                kind = self.typing.types[each]
                env = {**env, each.target.id: Variable(Typed(kind))}
        return env

    def decided(self, test: ast.expr) -> bool | None:
        """What a test comes to, if Numba leaves the other side out; None if it compiles both."""
        return self.constants().decided(test)

    def constants(self) -> Constants:
        """What Numba knows of this function's values before it types anything."""
        return Constants(self.kernel, set(self.locals), set(self.outer), self.given)

    def conditional(self, node: ast.IfExp, env: Environment) -> Typed:
        self.condition(node.test, env)
        decided = self.decided(node.test)
        if decided is not None:
            self.typing.constants[node.test] = np.bool_(decided)
            return self.expression(node.body if decided else node.orelse, env)
        sides = [self.if_known(each, env) for each in (node.body, node.orelse)]
        known = [each for each in sides if each is not None]
        if len(known) < 2:  # one side is a call of this function by itself; the other one says more
            if not known:
                raise NotKnownYet
            return known[0]
        left, right = known
        self.note_purity(node.body)
        self.note_purity(node.orelse)
        if left == right:
            return left
        return Typed(self.unified(left.type, right.type, node, "branches"))

    def if_known(self, node: ast.expr, env: Environment) -> Typed | None:
        """The type of an expression; None if that takes what this function returns."""
        depth = self.common.depth
        try:
            return self.expression(node, env)
        except NotKnownYet:
            self.common.depth = depth
            return None

    def tuple_expression(self, node: ast.Tuple, env: Environment) -> Typed:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            hint = "Write out the items: (t[0], t[1], x)."
            raise rejection("unsupported", "The emulator knows tuples without `*`.", node, hint)
        items = [self.expression(item, env) for item in node.elts]
        literal = tuple(item.literal for item in items)
        known = all(isinstance(value, int) for value in literal)
        kind = self.bounded_tuple(tuple(item.type for item in items), node)
        return Typed(kind, literal if known else None)

    def list_expression(self, node: ast.List, env: Environment) -> Typed:
        for item in node.elts:
            self.expression(item, env)  # what is forbidden is so in a list, too
        if node in self.harmless_lists():
            hint = "(1, 2) is a tuple."
            raise rejection("unsupported", "The emulator has no lists.", node, hint)
        message = "A kernel has no Python lists; use cuda.local.array."
        raise rejection("compile-error", message, node)

    def harmless_lists(self) -> set[ast.AST]:
        """The lists for which Numba needs no memory: in `for` and `in`, or never used."""
        nodes = [node for statement in self.kernel.body for node in ast.walk(statement)]
        read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        found: set[ast.AST] = set()
        for node in nodes:
            match node:
                case ast.For(iter=ast.List() as items):
                    found.add(items)
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.List() as items]):
                    found.add(items)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() as items):
                    if name not in read:
                        found.add(items)
        return found
