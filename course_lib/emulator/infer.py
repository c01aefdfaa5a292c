"""Gives every expression of a kernel its type before anything runs, as Numba's compiler does.

The walk follows the flow of control: where paths meet, a variable gets the one type that holds
the values of all of them. So `acc = 0` followed by `acc += A[i]` in a loop is float64 in the
whole loop, as it is on a GPU. What Numba's compiler would refuse is refused here, with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.emulator import types as T
from course_lib.emulator import warp_functions  # noqa: F401  (joins INTRINSICS)
from course_lib.emulator.constants import constant_of_reference
from course_lib.emulator.errors import rejection
from course_lib.emulator.intrinsics import ATTRIBUTES, INTRINSICS, Cast, Intrinsic, Typed
from course_lib.emulator.names import Reference, Unusable
from course_lib.emulator.parse import FORBIDDEN_BUILTINS, Kernel

MAX_CALL_DEPTH = 40
MAX_LOOP_PASSES = 8


@dataclass
class Typing:
    """The types of one function for one set of argument types.

    Attributes:
        kernel: the function.
        types: the type of every expression.
        operands: for an operator, the type to which its operands are converted first.
        constants: the value of every expression that is known when the kernel is compiled.
        calls: what each call calls.
        layouts: the shape of every shared or local array.
        uncertain: names that some path reaches without a value.
        pure: conditional operands that touch no memory, which may be computed for all lanes.
        return_type: what the function returns; Static(None) for nothing.
    """

    kernel: Kernel
    types: dict[ast.AST, T.Type] = field(default_factory=dict)
    operands: dict[ast.AST, np.dtype] = field(default_factory=dict)
    constants: dict[ast.AST, Any] = field(default_factory=dict)
    calls: dict[ast.Call, Intrinsic | Cast | Typing] = field(default_factory=dict)
    layouts: dict[ast.Call, tuple[int, ...]] = field(default_factory=dict)
    uncertain: set[ast.AST] = field(default_factory=set)
    pure: set[ast.AST] = field(default_factory=set)
    return_type: T.Type = field(default_factory=lambda: T.Static(None))


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


@dataclass
class _Loop:
    """The environments at the `break` and `continue` statements of one loop."""

    breaks: list[Environment] = field(default_factory=list)
    continues: list[Environment] = field(default_factory=list)


def infer(kernel: Kernel, argument_types: Sequence[T.Type]) -> Typing:
    """The types in `kernel` when it is launched with arguments of these types.

    Raises:
        KernelRejected: with `compile-error`, `unsupported` or `not-allowed`.
    """
    arguments = [Typed(each) for each in argument_types]
    typing = _Inference(kernel, {}).run(arguments)
    returned = typing.return_type
    if returned != T.Static(None):
        node = next(n for n in ast.walk(kernel.tree) if isinstance(n, ast.Return) and n.value)
        raise rejection(
            "compile-error",
            "A kernel cannot return a value.",
            node,
            "Write the result into an array that is passed in.",
        )
    return typing


class _Inference:
    """Types one function for one set of argument types."""

    def __init__(
        self,
        kernel: Kernel,
        outer: Environment,
        callers: tuple[Kernel, ...] = (),
        cache: dict[Any, Typing] | None = None,
    ) -> None:
        self.kernel = kernel
        self.outer = outer
        self.callers = (*callers, kernel)
        self.cache: dict[Any, Typing] = {} if cache is None else cache
        self.typing = Typing(kernel)
        self.loops: list[_Loop] = []
        self.settled_loops: dict[ast.AST, tuple[Environment, Environment, _Loop]] = {}
        self.returns: list[tuple[T.Type, ast.AST]] = []
        self.locals = _assigned_names(kernel)

    def run(self, arguments: Sequence[Typed]) -> Typing:
        names = self.kernel.parameters
        if len(arguments) != len(names):
            raise rejection(
                "compile-error",
                f"{self.kernel.name} takes {len(names)} arguments, not {len(arguments)}.",
                self.kernel.tree,
            )
        environment = {name: Variable(typed) for name, typed in zip(names, arguments, strict=True)}
        end = self.block(self.kernel.body, environment)
        if end is not None and self.returns:
            self.returns.append((T.Static(None), self.kernel.tree))
        self.typing.return_type = self._return_type()
        return self.typing

    def _return_type(self) -> T.Type:
        if not self.returns:
            return T.Static(None)
        result, _ = self.returns[0]
        for other, node in self.returns[1:]:
            result = self.unified(result, other, node, "returned values")
        return result

    # -- statements -------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], environment: Environment) -> Environment | None:
        """The environment after `body`; None if its end cannot be reached."""
        current: Environment | None = environment
        for statement in body:
            if current is None:
                return None
            current = self.statement(statement, current)
        return current

    def statement(self, node: ast.stmt, env: Environment) -> Environment | None:
        handler = _STATEMENTS.get(type(node))
        if handler is None:
            code, message = _REFUSED_STATEMENTS.get(
                type(node), ("unsupported", f"The emulator does not know `{_keyword(node)}`.")
            )
            raise rejection(code, message, node)
        return handler(self, node, env)

    def assign(self, node: ast.Assign, env: Environment) -> Environment:
        value = self.expression(node.value, env)
        for target in node.targets:
            env = self.bind(target, value, env)
        return env

    def annotated_assign(self, node: ast.AnnAssign, env: Environment) -> Environment:
        if node.value is None:
            return env
        return self.bind(node.target, self.expression(node.value, env), env)

    def bind(self, target: ast.expr, value: Typed, env: Environment) -> Environment:
        match target:
            case ast.Name(id=name):
                self.typing.types[target] = value.type
                return {**env, name: Variable(value)}
            case ast.Subscript():
                self.store(target, value, env)
                return env
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if any(isinstance(item, ast.Starred) for item in items):
                    raise rejection("compile-error", "Numba cannot unpack with `*`.", target)
                for item, part in zip(items, self.parts(value, items, target), strict=True):
                    env = self.bind(item, part, env)
                return env
        raise rejection("compile-error", "Numba cannot assign to this.", target)

    def parts(self, value: Typed, items: list[ast.expr], node: ast.AST) -> list[Typed]:
        if not isinstance(value.type, T.TupleType):
            raise rejection(
                "compile-error", f"Only a tuple can be unpacked, not {value.type}.", node
            )
        if len(value.type.items) != len(items):
            raise rejection(
                "compile-error",
                f"{len(items)} names on the left, but {len(value.type.items)} values on the right.",
                node,
            )
        literals = value.literal if isinstance(value.literal, tuple) else [None] * len(items)
        return [Typed(kind, lit) for kind, lit in zip(value.type.items, literals, strict=True)]

    def store(self, target: ast.Subscript, value: Typed, env: Environment) -> None:
        element = self.element_type(target, env)
        array = self.typing.types[target.value]
        if isinstance(array, T.ArrayType) and not array.writable:
            raise rejection("compile-error", "This array is read-only.", target)
        if not T.is_scalar(value.type):
            raise rejection(
                "compile-error", f"Cannot store {value.type} in an element of {element}.", target
            )
        self.typing.types[target] = element

    def element_type(self, node: ast.Subscript, env: Environment) -> np.dtype:
        kind = self.subscript_type(node, env).type
        if isinstance(kind, T.ArrayType):
            raise rejection(
                "unsupported",
                "The emulator stores one element at a time: give an index for every axis.",
                node,
            )
        if not T.is_scalar(kind) or isinstance(self.typing.types[node.value], T.TupleType):
            raise rejection("compile-error", "Numba cannot store into this.", node)
        return kind

    def augmented_assign(self, node: ast.AugAssign, env: Environment) -> Environment:
        value = self.expression(node.value, env)
        if isinstance(node.target, ast.Subscript):
            current = Typed(self.element_type(node.target, env))
        else:
            current = self.expression(node.target, env)
        result = Typed(self.binary_type(node, node.op, current.type, value.type))
        if isinstance(node.target, ast.Subscript):
            self.store(node.target, result, env)
            return env
        assert isinstance(node.target, ast.Name)
        return {**env, node.target.id: Variable(result)}

    def if_statement(self, node: ast.If, env: Environment) -> Environment | None:
        self.condition(node.test, env)
        env = self.with_walrus(node.test, env)
        return self.join([self.block(node.body, env), self.block(node.orelse, env)], node)

    def while_statement(self, node: ast.While, env: Environment) -> Environment | None:
        def one_pass(start: Environment) -> Environment | None:
            self.condition(node.test, start)
            return self.block(node.body, self.with_walrus(node.test, start))

        head, loop = self.loop(node, env, one_pass)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        after = None if endless else self.block(node.orelse, self.with_walrus(node.test, head))
        return self.join([after, *loop.breaks], node)

    def for_statement(self, node: ast.For, env: Environment) -> Environment | None:
        iterated = self.expression(node.iter, env)
        item = self.item_type(iterated, node)

        def one_pass(start: Environment) -> Environment | None:
            return self.block(node.body, self.bind(node.target, item, start))

        head, loop = self.loop(node, env, one_pass)
        return self.join([self.block(node.orelse, head), *loop.breaks], node)

    def item_type(self, iterated: Typed, node: ast.For) -> Typed:
        if isinstance(iterated.type, T.RangeType):
            return Typed(iterated.type.dtype)
        if isinstance(iterated.type, T.TupleType) and iterated.type.items:
            kind = iterated.type.items[0]
            for other in iterated.type.items[1:]:
                kind = self.unified(kind, other, node, "items")
            return Typed(kind)
        if isinstance(iterated.type, T.ArrayType):
            raise rejection("unsupported", "Loop over the indices of an array with range().", node)
        raise rejection("compile-error", f"Cannot loop over {iterated.type}.", node.iter)

    def loop(
        self,
        node: ast.For | ast.While,
        env: Environment,
        one_pass: Callable[[Environment], Environment | None],
    ) -> tuple[Environment, _Loop]:
        """Walk a loop's body until the types at its head no longer change."""
        known = self.settled_loops.get(node)
        if known is not None and known[0] == env:
            # An inner loop that an outer one passes over again, with nothing new.
            return known[1], known[2]
        head = env
        for _ in range(MAX_LOOP_PASSES):
            loop = _Loop()
            self.loops.append(loop)
            end = one_pass(head)
            self.loops.pop()
            joined = self.join([env, end, *loop.continues], node)
            assert joined is not None
            if joined == head:
                self.settled_loops[node] = (env, head, loop)
                return head, loop
            head = joined
        raise rejection("unsupported", "The types in this loop do not settle.", node)

    def break_statement(self, node: ast.Break, env: Environment) -> None:
        self.loops[-1].breaks.append(env)

    def continue_statement(self, node: ast.Continue, env: Environment) -> None:
        self.loops[-1].continues.append(env)

    def return_statement(self, node: ast.Return, env: Environment) -> None:
        kind: T.Type = T.Static(None)
        if node.value is not None:
            kind = self.expression(node.value, env).type
        self.returns.append((kind, node))

    def expression_statement(self, node: ast.Expr, env: Environment) -> Environment:
        self.expression(node.value, env)
        return self.with_walrus(node.value, env)

    def pass_statement(self, node: ast.stmt, env: Environment) -> Environment:
        return env

    def assert_statement(self, node: ast.Assert, env: Environment) -> Environment:
        self.condition(node.test, env)
        return env

    def raise_statement(self, node: ast.Raise, env: Environment) -> None:
        return None

    def function_definition(self, node: ast.FunctionDef, env: Environment) -> Environment:
        if node.decorator_list or node.args.defaults:
            raise rejection("unsupported", "A function inside a kernel must be plain.", node)
        names = tuple(argument.arg for argument in node.args.args)
        inner = replace(self.kernel, name=node.name, parameters=names, tree=node)
        return {**env, node.name: Variable(Typed(T.Static(Closure(inner))))}

    # -- joining paths ----------------------------------------------------------------------

    def join(self, paths: list[Environment | None], node: ast.AST) -> Environment | None:
        reached = [path for path in paths if path is not None]
        if len(reached) <= 1:
            return reached[0] if reached else None
        names = dict.fromkeys(name for path in reached for name in path)
        return {name: self.join_variable(name, reached, node) for name in names}

    def join_variable(self, name: str, paths: list[Environment], node: ast.AST) -> Variable:
        known = [path[name] for path in paths if name in path]
        typed = known[0].typed
        for other in known[1:]:
            if other.typed != typed:
                typed = Typed(self.unified(typed.type, other.typed.type, node, f"values of {name}"))
        certain = len(known) == len(paths) and all(each.certain for each in known)
        return Variable(typed, certain)

    def unified(self, left: T.Type, right: T.Type, node: ast.AST, what: str) -> T.Type:
        try:
            return T.unify(left, right)
        except T.TypingError:
            raise rejection(
                "compile-error", f"The {what} have no common type: {left} and {right}.", node
            ) from None

    # -- expressions ------------------------------------------------------------------------

    def expression(self, node: ast.expr, env: Environment) -> Typed:
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            code, message = _REFUSED_EXPRESSIONS.get(
                type(node), ("unsupported", f"The emulator does not know {type(node).__name__}.")
            )
            raise rejection(code, message, node)
        typed = handler(self, node, env)
        self.typing.types[node] = typed.type
        return typed

    def condition(self, node: ast.expr, env: Environment) -> None:
        kind = self.expression(node, env).type
        if not T.is_scalar(kind):
            raise rejection("compile-error", f"{kind} is neither true nor false.", node)

    def with_walrus(self, node: ast.expr, env: Environment) -> Environment:
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                kind = self.typing.types[each]
                env = {**env, each.target.id: Variable(Typed(kind))}
        return env

    def named_expression(self, node: ast.NamedExpr, env: Environment) -> Typed:
        return Typed(self.expression(node.value, env).type)

    def constant(self, node: ast.Constant, env: Environment) -> Typed:
        return self.known(node, node.value)

    def known(self, node: ast.expr, value: Any) -> Typed:
        """The type of a value that is known now; it is kept for the machine."""
        if value is None or isinstance(value, str | Reference | Kernel | np.dtype):
            return Typed(T.Static(value))
        kind = T.type_of_scalar(value)
        if kind is not None:
            self.typing.constants[node] = kind.type(value)
            # Only Python's own integers count as literals in Numba: np.int64(4) does not.
            return Typed(kind, value if type(value) is int else None)
        if isinstance(value, tuple):
            return self.known_tuple(node, value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            self.typing.constants[node] = value
            return Typed(T.ArrayType(value.dtype, value.ndim, writable=False))
        raise rejection("compile-error", f"Numba has no type for {value!r}."[:200], node)

    def known_tuple(self, node: ast.expr, value: tuple) -> Typed:
        kinds = [T.type_of_scalar(item) for item in value]
        if any(kind is None for kind in kinds):
            raise rejection("unsupported", "Only tuples of numbers can come from outside.", node)
        self.typing.constants[node] = tuple(
            kind.type(item) for kind, item in zip(kinds, value, strict=True) if kind
        )
        literal = value if all(type(item) is int for item in value) else None
        return Typed(T.TupleType(tuple(kind for kind in kinds if kind)), literal)

    def name(self, node: ast.Name, env: Environment) -> Typed:
        for scope in (env, self.outer):
            if node.id in scope:
                variable = scope[node.id]
                if not variable.certain:
                    self.typing.uncertain.add(node)
                return variable.typed
        if node.id in self.locals:
            raise rejection("compile-error", f"{node.id} is used before it has a value.", node)
        return self.known(node, self.global_value(node))

    def global_value(self, node: ast.Name) -> Any:
        try:
            value = self.kernel.namespace[node.id]
        except KeyError:
            return self.builtin(node)
        if isinstance(value, Unusable):
            raise rejection(value.code, f"{value.reason}.", node)
        return value

    def builtin(self, node: ast.Name) -> Any:
        if node.id in FORBIDDEN_BUILTINS:
            raise rejection("not-allowed", f"An answer may not use {node.id}.", node)
        reference = Reference(f"builtins.{node.id}")
        if reference.path in INTRINSICS or node.id in _PYTHON_NAMES:
            return reference
        raise rejection("compile-error", f"The name {node.id} is not defined.", node)

    def attribute(self, node: ast.Attribute, env: Environment) -> Typed:
        owner = self.expression(node.value, env)
        if isinstance(owner.type, T.ArrayType):
            return self.array_attribute(node, owner.type)
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, Reference):
            return self.reference_attribute(node, owner.type.value.attribute(node.attr))
        code = "unsupported" if node.attr in ("real", "imag") else "compile-error"
        raise rejection(code, f"{owner.type} has no attribute .{node.attr}.", node)

    def array_attribute(self, node: ast.Attribute, array: T.ArrayType) -> Typed:
        match node.attr:
            case "shape" | "strides":
                return Typed(T.TupleType((T.INT64,) * array.ndim))
            case "size":
                return Typed(T.INT64)
            case "ndim":
                return self.known(node, array.ndim)
            case "dtype":
                return Typed(T.Static(array.dtype))
            case "T":
                return Typed(array)
        raise rejection(
            "compile-error", f"An array in a kernel has no attribute .{node.attr}.", node
        )

    def reference_attribute(self, node: ast.Attribute, reference: Reference) -> Typed:
        if reference.path in ATTRIBUTES:
            return Typed(ATTRIBUTES[reference.path].type)
        value = constant_of_reference(reference)
        return self.known(node, reference if value is None else value)

    def binary(self, node: ast.BinOp, env: Environment) -> Typed:
        left, right = self.expression(node.left, env), self.expression(node.right, env)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            folded = _fold(node)
            if folded is not None:
                return self.known(node, folded)
        if isinstance(left.type, T.TupleType) and isinstance(right.type, T.TupleType):
            if isinstance(node.op, ast.Add):
                return Typed(T.TupleType(left.type.items + right.type.items))
        return Typed(self.binary_type(node, node.op, left.type, right.type))

    def binary_type(
        self, node: ast.BinOp | ast.AugAssign, op: ast.operator, left: T.Type, right: T.Type
    ) -> np.dtype:
        if not (isinstance(left, np.dtype) and isinstance(right, np.dtype)):
            raise rejection(
                "compile-error", f"Numba cannot compute {_symbol(op)} of {left} and {right}.", node
            )
        exponent = node.right if isinstance(node, ast.BinOp) else node.value
        try:
            result, operands = _operator_types(op, left, right, _literal_integer(exponent))
        except T.TypingError as error:
            raise rejection("compile-error", f"Numba refuses this: {error}.", node) from None
        self.typing.operands[node] = operands
        return result

    def unary(self, node: ast.UnaryOp, env: Environment) -> Typed:
        operand = self.expression(node.operand, env)
        if not isinstance(operand.type, np.dtype):
            raise rejection("compile-error", f"Numba cannot negate {operand.type}.", node)
        if isinstance(node.op, ast.Not):
            return Typed(T.BOOL)
        if isinstance(node.op, ast.Invert) and T.is_float(operand.type):
            raise rejection(
                "compile-error", f"Numba cannot invert the bits of {operand.type}.", node
            )
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.known(node, -node.operand.value)
        if isinstance(node.op, ast.Invert) and operand.type == T.BOOL:
            result = T.BOOL
        else:
            result = T.negation_type(operand.type)
        self.typing.operands[node] = result
        return Typed(result)

    def boolean(self, node: ast.BoolOp, env: Environment) -> Typed:
        result: T.Type | None = None
        for value in node.values:
            self.condition(value, env)
            kind = self.typing.types[value]
            result = kind if result is None else self.unified(result, kind, node, "operands")
            self.note_purity(value)
        assert result is not None
        return Typed(result)

    def compare(self, node: ast.Compare, env: Environment) -> Typed:
        operands = [self.expression(each, env) for each in [node.left, *node.comparators]]
        for op, left, right in zip(node.ops, operands[:-1], operands[1:], strict=True):
            self.compare_types(node, op, left.type, right.type)
        for each in node.comparators[1:]:
            self.note_purity(each)
        return Typed(T.BOOL)

    def compare_types(self, node: ast.Compare, op: ast.cmpop, left: T.Type, right: T.Type) -> None:
        identity = isinstance(op, ast.Is | ast.IsNot)
        if identity and T.Static(None) in (left, right):
            return
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, T.TupleType):
            return
        comparable = isinstance(left, np.dtype) and isinstance(right, np.dtype)
        if identity or isinstance(op, ast.In | ast.NotIn) or not comparable:
            raise rejection("compile-error", f"Numba cannot compare {left} with {right} so.", node)

    def conditional(self, node: ast.IfExp, env: Environment) -> Typed:
        self.condition(node.test, env)
        if isinstance(node.test, ast.Constant):
            return self.expression(node.body if node.test.value else node.orelse, env)
        left, right = self.expression(node.body, env), self.expression(node.orelse, env)
        self.note_purity(node.body)
        self.note_purity(node.orelse)
        if left == right:
            return left
        return Typed(self.unified(left.type, right.type, node, "branches"))

    def note_purity(self, node: ast.expr) -> None:
        """Remember expressions without memory access or calls: lanes need no mask for them."""
        if not any(isinstance(e, ast.Subscript | ast.Call | ast.NamedExpr) for e in ast.walk(node)):
            self.typing.pure.add(node)

    def tuple_expression(self, node: ast.Tuple, env: Environment) -> Typed:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            raise rejection("compile-error", "Numba cannot unpack with `*`.", node)
        items = [self.expression(item, env) for item in node.elts]
        literal = tuple(item.literal for item in items)
        known = all(isinstance(value, int) for value in literal)
        return Typed(T.TupleType(tuple(item.type for item in items)), literal if known else None)

    def subscript(self, node: ast.Subscript, env: Environment) -> Typed:
        return self.subscript_type(node, env)

    def subscript_type(self, node: ast.Subscript, env: Environment) -> Typed:
        owner = self.expression(node.value, env)
        if isinstance(owner.type, T.TupleType):
            return self.tuple_item(node, owner, env)
        if not isinstance(owner.type, T.ArrayType):
            raise rejection("compile-error", f"{owner.type} cannot be indexed.", node)
        axes = self.index_axes(node.slice, env)
        if len(axes) > owner.type.ndim:
            raise rejection(
                "compile-error",
                f"{len(axes)} indices for an array with {owner.type.ndim} axes.",
                node,
            )
        left = owner.type.ndim - sum(kind == "index" for kind in axes)
        if left:
            return Typed(T.ArrayType(owner.type.dtype, left, owner.type.writable))
        return Typed(owner.type.dtype)

    def index_axes(self, index: ast.expr, env: Environment) -> list[str]:
        """For each axis that is indexed: "index" for a number, "slice" for a slice."""
        if isinstance(index, ast.Tuple):
            kinds = [kind for item in index.elts for kind in self.index_axes(item, env)]
            self.typing.types[index] = T.TupleType(
                tuple(self.typing.types.get(item, T.Static("slice")) for item in index.elts)
            )
            return kinds
        if isinstance(index, ast.Slice):
            self.slice_types(index, env)
            return ["slice"]
        if isinstance(index, ast.Constant) and index.value is Ellipsis:
            raise rejection("unsupported", "Write out the index instead of `...`.", index)
        typed = self.expression(index, env)
        if isinstance(typed.type, T.TupleType) and all(map(T.is_integer, typed.type.items)):
            return ["index"] * len(typed.type.items)
        if T.is_integer(typed.type):
            return ["index"]
        hint = "Use `//` for a whole number." if T.is_float(typed.type) else ""
        raise rejection("compile-error", f"{typed.type} cannot be an index.", index, hint)

    def slice_types(self, node: ast.Slice, env: Environment) -> None:
        if node.step is not None:
            raise rejection("unsupported", "The emulator knows slices without a step.", node)
        for bound in (node.lower, node.upper):
            if bound is not None and not T.is_integer(self.expression(bound, env).type):
                raise rejection("compile-error", "The bounds of a slice must be integers.", node)

    def tuple_item(self, node: ast.Subscript, owner: Typed, env: Environment) -> Typed:
        assert isinstance(owner.type, T.TupleType)
        index = self.expression(node.slice, env)
        if isinstance(index.literal, int):
            if not -len(owner.type.items) <= index.literal < len(owner.type.items):
                raise rejection(
                    "compile-error",
                    f"{ast.unparse(node.value)[:40]} has {len(owner.type.items)} item(s), "
                    f"so there is no item {index.literal}.",
                    node,
                )
            literal = owner.literal[index.literal] if isinstance(owner.literal, tuple) else None
            return Typed(owner.type.items[index.literal], literal)
        if T.is_integer(index.type) and len(set(owner.type.items)) == 1:
            return Typed(owner.type.items[0])
        raise rejection("compile-error", "A tuple's index must be a constant here.", node)

    # -- calls ------------------------------------------------------------------------------

    def call(self, node: ast.Call, env: Environment) -> Typed:
        function = self.callee(node, env)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise rejection("unsupported", "The emulator knows plain arguments only.", node)
        arguments = [self.expression(argument, env) for argument in node.args]
        keywords = {
            each.arg: self.expression(each.value, env) for each in node.keywords if each.arg
        }
        match function:
            case Closure(kernel=kernel):
                return self.call_function(node, kernel, arguments, {**self.outer, **env})
            case Kernel():
                return self.call_kernel(node, function, arguments, keywords)
            case Reference(dtype=np.dtype() as dtype):
                return self.cast(node, Cast(dtype), arguments)
            case np.dtype():
                return self.cast(node, Cast(function), arguments)
            case Reference():
                return self.call_intrinsic(node, function, arguments, keywords)
        raise rejection("compile-error", "This cannot be called.", node)

    def callee(self, node: ast.Call, env: Environment) -> object:
        if isinstance(node.func, ast.Lambda):
            return self.lambda_expression(node.func, env).type.value  # type: ignore[union-attr]
        kind = self.expression(node.func, env).type
        if isinstance(kind, T.Static):
            return kind.value
        raise rejection("compile-error", f"{kind} cannot be called.", node)

    def lambda_expression(self, node: ast.Lambda, env: Environment) -> Typed:
        names = tuple(argument.arg for argument in node.args.args)
        inner = replace(self.kernel, name="<lambda>", parameters=names, tree=node)
        return Typed(T.Static(Closure(inner)))

    def cast(self, node: ast.Call, cast: Cast, arguments: list[Typed]) -> Typed:
        if len(arguments) != 1 or not T.is_scalar(arguments[0].type):
            raise rejection("compile-error", f"{cast.dtype} takes one number.", node)
        self.typing.calls[node] = cast
        return Typed(cast.dtype)

    def call_kernel(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], keywords: dict[str, Typed]
    ) -> Typed:
        if keywords:
            raise rejection(
                "unsupported", "Pass the arguments of a device function by place.", node
            )
        if not kernel.is_decorated:
            raise rejection(
                "compile-error",
                f"{kernel.name} is a plain Python function; a kernel can call it only if it is "
                "decorated with @cuda.jit(device=True).",
                node,
            )
        return self.call_function(node, kernel, arguments, {})

    def call_function(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], outer: Environment
    ) -> Typed:
        if any(each.tree is kernel.tree for each in self.callers):
            raise rejection("unsupported", f"{kernel.name} calls itself; use a loop.", node)
        if len(self.callers) > MAX_CALL_DEPTH:
            raise rejection("unsupported", "Functions call each other too deeply.", node)
        # A closure sees the variables around it, so its types may differ from call to call.
        key = None if outer else (kernel.tree, tuple(each.type for each in arguments))
        typing = self.cache.get(key) if key else None
        if typing is None:
            plain = [Typed(each.type) for each in arguments]
            typing = _Inference(kernel, outer, self.callers, self.cache).run(plain)
            if key:
                self.cache[key] = typing
        self.typing.calls[node] = typing
        return Typed(typing.return_type)

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
        try:
            typed = intrinsic.typing(arguments, keywords)
        except T.TypingError as error:
            raise rejection("compile-error", f"{_short(function)}: {error}.", node) from None
        self.typing.calls[node] = intrinsic
        if isinstance(typed.type, T.ArrayType):
            shape = typed.literal
            self.typing.layouts[node] = shape if isinstance(shape, tuple) else (int(shape or 0),)
        return typed

    def unknown_function(self, node: ast.Call, function: Reference) -> Exception:
        name = _short(function)
        if function.path.startswith("numpy."):
            return rejection(
                "compile-error",
                f"{name} cannot be used inside a kernel: Numba has no NumPy functions there.",
                node,
                "Kernels compute element by element; use loops, and math for functions.",
            )
        if function.path.startswith("numba.cuda.") or function.path.startswith("math."):
            return rejection("unsupported", f"The emulator does not know {name}.", node)
        return rejection("compile-error", f"{name} cannot be called inside a kernel.", node)


def _operator_types(
    op: ast.operator, left: np.dtype, right: np.dtype, exponent: int | None
) -> tuple[np.dtype, np.dtype]:
    """The type of the result, and the type to which the operands are converted."""
    match op:
        case ast.Div():
            result = T.division_type(left, right)
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            result = T.bitwise_type(left, right)
        case ast.LShift() | ast.RShift():
            result = T.shift_type(left, right)
        case ast.Pow():
            result = T.power_type(left, right, exponent is not None)
        case ast.MatMult():
            raise T.TypingError("there is no @ inside a kernel")
        case _:
            result = T.arithmetic_type(left, right)
    return result, result


def _literal_integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal_integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _fold(node: ast.BinOp) -> Any:
    """Python itself folds arithmetic on literals before Numba sees it: 2 * 16 is a literal."""
    from course_lib.emulator.constants import NotConstant, evaluate_constant

    try:
        return evaluate_constant(node, {})
    except NotConstant:
        return None


def _assigned_names(kernel: Kernel) -> frozenset[str]:
    """The names that are local because the function assigns them."""
    stored = {
        node.id
        for statement in kernel.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return frozenset(stored)


def _keyword(node: ast.stmt) -> str:
    return type(node).__name__.lower()


def _short(reference: Reference) -> str:
    path = reference.path
    for long, short in (("numba.cuda.", "cuda."), ("builtins.", ""), ("numpy.", "np.")):
        if path.startswith(long):
            return short + path[len(long) :]
    return path


def _symbol(op: ast.operator) -> str:
    symbols = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
    return f"`{symbols.get(type(op), type(op).__name__)}`"


# Builtins that exist in Python, so that using them is a matter of types and not of a typing slip.
_PYTHON_NAMES = frozenset(
    (
        "sum sorted list dict set str print enumerate zip map filter any all isinstance type "
        "reversed super object id hash ord chr complex slice iter next callable format repr"
    ).split()
)

_STATEMENTS: dict[type, Callable[[_Inference, Any, Environment], Environment | None]] = {
    ast.Assign: _Inference.assign,
    ast.AnnAssign: _Inference.annotated_assign,
    ast.AugAssign: _Inference.augmented_assign,
    ast.If: _Inference.if_statement,
    ast.While: _Inference.while_statement,
    ast.For: _Inference.for_statement,
    ast.Break: _Inference.break_statement,
    ast.Continue: _Inference.continue_statement,
    ast.Return: _Inference.return_statement,
    ast.Expr: _Inference.expression_statement,
    ast.Pass: _Inference.pass_statement,
    ast.Assert: _Inference.assert_statement,
    ast.Raise: _Inference.raise_statement,
    ast.FunctionDef: _Inference.function_definition,
}

_REFUSED_STATEMENTS: dict[type, tuple[str, str]] = {
    ast.Try: ("compile-error", "Numba cannot compile try/except in a kernel."),
    ast.With: ("compile-error", "Numba cannot compile `with` in a kernel."),
    ast.Import: ("compile-error", "Numba cannot compile an import inside a kernel."),
    ast.ImportFrom: ("compile-error", "Numba cannot compile an import inside a kernel."),
    ast.Global: ("compile-error", "A kernel cannot change global names."),
    ast.Nonlocal: ("compile-error", "A kernel cannot change names outside it."),
    ast.ClassDef: ("compile-error", "Numba cannot compile a class inside a kernel."),
    ast.Delete: ("compile-error", "Numba cannot compile `del`."),
}

_EXPRESSIONS: dict[type, Callable[[_Inference, Any, Environment], Typed]] = {
    ast.Constant: _Inference.constant,
    ast.Name: _Inference.name,
    ast.Attribute: _Inference.attribute,
    ast.BinOp: _Inference.binary,
    ast.UnaryOp: _Inference.unary,
    ast.BoolOp: _Inference.boolean,
    ast.Compare: _Inference.compare,
    ast.IfExp: _Inference.conditional,
    ast.Tuple: _Inference.tuple_expression,
    ast.Subscript: _Inference.subscript,
    ast.Call: _Inference.call,
    ast.Lambda: _Inference.lambda_expression,
    ast.NamedExpr: _Inference.named_expression,
}

_REFUSED_EXPRESSIONS: dict[type, tuple[str, str]] = {
    ast.List: ("compile-error", "A kernel has no Python lists; use cuda.local.array."),
    ast.ListComp: ("compile-error", "A kernel has no Python lists; use a loop."),
    ast.SetComp: ("compile-error", "A kernel has no Python sets."),
    ast.DictComp: ("compile-error", "A kernel has no Python dictionaries."),
    ast.GeneratorExp: ("compile-error", "A kernel has no generators; use a loop."),
    ast.Dict: ("compile-error", "A kernel has no Python dictionaries."),
    ast.Set: ("compile-error", "A kernel has no Python sets."),
    ast.JoinedStr: ("compile-error", "A kernel has no formatted strings."),
    ast.Yield: ("compile-error", "A kernel cannot yield."),
    ast.Await: ("compile-error", "A kernel cannot wait."),
}
