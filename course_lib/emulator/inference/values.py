"""Types of expressions: names, literals, tuples, subscripts; and which module types the others."""

import ast
import enum
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions import (
    address_functions,  # noqa: F401  (joins INTRINSICS)
    arrays,  # noqa: F401  (joins INTRINSICS)
    atomics,  # noqa: F401  (joins INTRINSICS)
    attention_functions,  # noqa: F401  (joins INTRINSICS)
    builtin_functions,  # noqa: F401  (joins INTRINSICS)
    hopper_functions,  # noqa: F401  (joins INTRINSICS)
    library_functions,  # noqa: F401  (joins INTRINSICS)
    math_functions,  # noqa: F401  (joins INTRINSICS)
    registers,  # noqa: F401  (joins INTRINSICS)
    tensor_cores,  # noqa: F401  (joins INTRINSICS)
    warp_functions,  # noqa: F401  (joins INTRINSICS)
    warpgroup_products,  # noqa: F401  (joins INTRINSICS)
    wide_functions,  # noqa: F401  (joins INTRINSICS)
)
from course_lib.emulator.inference.attributes import AttributeTyper, FieldTyper
from course_lib.emulator.inference.calls import CallTyper, belongs_around, only_values
from course_lib.emulator.inference.operations import OperatorTyper
from course_lib.emulator.inference.typer import Environment, NotKnownYet, Typer, Variable
from course_lib.emulator.inference.unknown_names import (
    COMMON_BUILTINS,
    PYTHON_NAMES,
    hint_at_name,
    lacking,
)
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import INTRINSICS, Typed
from course_lib.emulator.language.kernel import Kernel, every_node, names_with
from course_lib.emulator.language.names import FORBIDDEN_BUILTINS, Reference, Unusable
from course_lib.emulator.language.operators import COMPARE_OR_IS
from course_lib.wording.sentences import say

OPEN = object()  # a value that is known only when the kernel runs


class ValueTyper(Typer):
    """Types names, literals, tuples and conditional expressions."""

    @cached_property
    def only_values(self) -> dict[str, ast.expr]:
        return only_values(self.kernel)

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
            return self.from_another_path(node)
        return self.known(node, self.global_value(node))

    def from_another_path(self, node: ast.Name) -> Typed:
        """A variable that no path to here sets: Numba uses the value that another path would have
        set.
        """
        stores = [
            store
            for store in ast.walk(self.kernel.tree)
            if isinstance(store, ast.Name)
            and store.id == node.id
            and isinstance(store.ctx, ast.Store)
        ]
        kinds = [self.typing.types[store] for store in stores if store in self.typing.types]
        if kinds:
            self.typing.uncertain.add(node)
            kind = kinds[0]
            for other in kinds[1:]:
                kind = self.unified(kind, other, node, f"values of {node.id}")
            return Typed(kind)
        message = say("{name} is used before it has a value.", name=node.id)
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(self.kernel.tree)):
            hint = "Give it a value first, in a line of its own."
            raise rejection("unsupported", message, node, hint)
        if any(store.lineno < node.lineno for store in stores):
            hint = "Give it a value on this path, or before the paths split."
            raise rejection("unsupported", message, node, hint)
        raise rejection("compile-error", message, node)

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
        if belongs_around(node.id, self.kernel, self.callers):
            message = say("{name} belongs to the function around this one.", name=node.id)
            hint = (
                "Pass it as an argument: a function that is passed on can use only constants "
                "from outside."
            )
            raise rejection("unsupported", message, node, hint)
        message = say("The name {name} is not defined.", name=node.id)
        raise rejection("compile-error", message, node, hint_at_name(node.id, self.names_known()))

    def names_known(self) -> list[str]:
        """The names that a misspelt name may have meant: of this function, around it, Python's."""
        stored = names_with(ast.walk(self.kernel.tree))
        return [*self.kernel.parameters, *stored, *COMMON_BUILTINS, *self.kernel.namespace]

    def named_expression(self, node: ast.NamedExpr, env: Environment) -> Typed:
        return Typed(self.expression(node.value, env).type)

    def with_walrus(self, node: ast.expr, env: Environment) -> Environment:
        for part in every_node(node):
            if isinstance(part, ast.NamedExpr):
                kind = self.typing.types[part]
                env = {**env, part.target.id: Variable(Typed(kind))}
        return env

    def decided(self, test: ast.expr) -> bool | None:
        """The result of a test where Numba leaves the other side out; None if both are compiled.

        It does so for literals, for constants from outside and comparisons of them, for a name
        that is set once, to one of these, and where a parameter that nobody changes is compared
        with None, and is None or given as a literal.
        """
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                opposite = self.decided(operand)
                return None if opposite is None else not opposite
            case ast.BoolOp(op=op, values=parts):
                decisions = [self.decided(part) for part in parts]
                ends = isinstance(op, ast.Or)  # what decides, whatever the others come to
                return ends if ends in decisions else None if None in decisions else not ends
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()]):
                given = name in self.kernel.parameters and name not in self.locals
                if given and self.typing.types.get(test.comparators[0]) == T.Static(None):
                    is_none = self.is_none(self.arguments[self.kernel.parameters.index(name)])
                    return None if is_none is None else is_none == isinstance(test.ops[0], ast.Is)
        value = self.fixed_value(test)
        return None if value is OPEN else bool(value)

    def is_none(self, argument: Typed) -> bool | None:
        """Whether an argument is None; None itself where Numba does not ask this beforehand."""
        if isinstance(argument.type, T.Static):
            return argument.type.value is None
        if argument.literal is not None or self.kernel.tree in self.common.without_optional:
            return False
        self.literals_decide = True
        return None

    def fixed_value(self, node: ast.expr) -> Any:
        """What Numba knows of a value when it looks for branches that are never taken."""
        match node:
            case ast.Constant(value=int() | float() | str() | None as value):
                return value
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARE_OR_IS:
                return self.compared(op, self.fixed_value(left), self.fixed_value(right))
            case ast.Name(id=name) if name in self.locals:
                only = self.only_values.get(name)
                decided = None if only is None else self.decided(only)
                fixed = OPEN if only is None else self.fixed_value(only)
                return decided if fixed is OPEN and decided is not None else fixed
            case ast.Name(id=name) if name not in {*self.kernel.parameters, *self.outer}:
                value = self.kernel.namespace.get(name, OPEN)
                return value if isinstance(value, int | float | str | None | Kernel) else OPEN
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = self.decided(test)
                return OPEN if chosen is None else self.fixed_value(body if chosen else orelse)
            case ast.Attribute(value=owner, attr="ndim"):
                kind = self.typing.types.get(owner)
                return kind.ndim if isinstance(kind, T.ArrayType) else OPEN
        return OPEN

    @staticmethod
    def compared(op: ast.cmpop, left: Any, right: Any) -> Any:
        """The result of comparing two fixed values; texts are only compared for equality."""
        sides = (left, right)
        words = any(side is None or isinstance(side, str) for side in sides)
        identity = isinstance(op, ast.Is | ast.IsNot)
        if OPEN in sides or (identity and None not in sides):
            return OPEN
        if words and not identity and not isinstance(op, ast.Eq | ast.NotEq):
            return OPEN
        return COMPARE_OR_IS[type(op)](left, right)

    def conditional(self, node: ast.IfExp, env: Environment) -> Typed:
        self.condition(node.test, env)
        decided = self.decided(node.test)
        if decided is not None:
            self.typing.constants[node.test] = np.bool_(decided)
            return self.expression(node.body if decided else node.orelse, env)
        sides = [self.if_known(side, env) for side in (node.body, node.orelse)]
        known = [side for side in sides if side is not None]
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
            raise rejection(
                "unsupported", "The emulator supports only tuples without `*`.", node, hint
            )
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
        message = "A kernel has no Python lists. Use cuda.local.array instead."
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


# --- Subscripts: elements and parts of arrays, items of tuples ------------------------------------


class SubscriptTyper(FieldTyper):
    """Types subscripts."""

    def subscript(self, node: ast.Subscript, env: Environment) -> Typed:
        return self.subscript_type(node, env)

    def subscript_type(self, node: ast.Subscript, env: Environment) -> Typed:
        owner = self.expression(node.value, env)
        if isinstance(owner.type, T.TupleType):
            return self.tuple_item(node, owner, env)
        if isinstance(owner.type, T.FlatType):
            if self.index_axes(node.slice, env) != ["index"]:
                message = "An element of .flat is indexed by one number."
                raise rejection("compile-error", message, node)
            self.typing.special[node] = None
            return Typed(T.element_type(owner.type.array))
        name = self.named_field(node, env)
        if name is not None:
            return self.field(node, name)
        if isinstance(owner.type, T.RecordType):
            raise self.no_field(node, owner.type)
        if not isinstance(owner.type, T.ArrayType):
            named = owner.type.value if isinstance(owner.type, T.Static) else None
            if isinstance(named, enum.EnumMeta) and isinstance(node.slice, ast.Constant):
                return self.member_of(node, named, str(node.slice.value))
            if isinstance(named, str | enum.EnumMeta):
                message = say("The emulator cannot index {type}.", type=owner.type)
                raise rejection(
                    "unsupported", message, node, "Use the value that you mean by its own name."
                )
            hint = ""
            if owner.type == T.Static(None) and isinstance(node.value, ast.Name):
                hint = say(
                    "Which line gives {name} its value? A function without `return` returns "
                    "nothing.",
                    name=node.value.id,
                )
            raise rejection(
                "compile-error", say("{type} cannot be indexed.", type=owner.type), node, hint
            )
        axes = self.index_axes(node.slice, env)
        rest = axes.count("rest")
        if rest == 1 and len(axes) <= owner.type.ndim + 1:
            place, free = axes.index("rest"), owner.type.ndim + 1 - len(axes)
            axes[place : place + 1] = ["slice"] * free
        elif rest:
            raise rejection("compile-error", "An index has at most one `...`.", node)
        if len(axes) > owner.type.ndim:
            message = say(
                "{array} has {axes}, but is indexed with {given}.",
                array=ast.unparse(node.value),
                axes="one axis" if owner.type.ndim == 1 else f"{owner.type.ndim} axes",
                given="1 index" if len(axes) == 1 else f"{len(axes)} indices",
            )
            hint = say(
                "Which indices select one element of {array}?", array=ast.unparse(node.value)
            )
            raise rejection("compile-error", message, node, hint)
        self.note_from_end(node)
        part = owner.type.indexed(axes)
        if _has_step(node.slice):
            part = replace(part, layout="A")
        return Typed(part if part.ndim or rest else T.element_type(part))

    def note_from_end(self, node: ast.Subscript) -> None:
        """Remember on which axes indices are written as negative numbers, on purpose."""
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        axis, negative = 0, []
        for item in items:
            known, kind = self.typing.constants.get(item), self.typing.types.get(item)
            if isinstance(known, np.integer) and known < 0:
                negative.append(axis)
            axis += len(kind.items) if isinstance(kind, T.TupleType) else 1
        if negative:
            self.typing.special[node] = tuple(negative)

    def index_axes(self, index: ast.expr, env: Environment) -> list[str]:
        """For each axis that is indexed: "index" for a number, "slice" for a slice; one "rest" for
        all the axes that `...` stands for."""
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
            return ["rest"]
        typed = self.expression(index, env)
        self.refuse_member(index)
        items = typed.type.items if isinstance(typed.type, T.TupleType) else (typed.type,)
        if all(map(T.is_integer, items)):
            return ["index"] * len(items)
        if typed.type == T.Static(None):
            hint = "Leave it out, and use one index fewer."
            message = "The emulator does not support None as an index."
            raise rejection("unsupported", message, index, hint)
        if isinstance(typed.type, T.ArrayType) and not typed.type.ndim:
            message = "The emulator does not support an array without axes as an index."
            hint = say("{array}[()] is the number that it holds.", array=ast.unparse(index)[:40])
            raise rejection("unsupported", message, index, hint)
        raise _no_index(next(item for item in items if not T.is_integer(item)), index)

    def slice_types(self, node: ast.Slice, env: Environment) -> None:
        for bound in (node.lower, node.upper, node.step):
            kind = T.INT64 if bound is None else self.expression(bound, env).type
            if kind != T.Static(None) and (not T.is_scalar(kind) or T.is_complex(kind)):
                raise rejection("compile-error", "The bounds of a slice must be numbers.", node)

    def tuple_item(self, node: ast.Subscript, owner: Typed, env: Environment) -> Typed:
        assert isinstance(owner.type, T.TupleType)
        if isinstance(node.slice, ast.Slice):
            hint = "Name the items: (t[1], t[2])."
            raise rejection("unsupported", "The emulator does not slice tuples.", node, hint)
        index = self.expression(node.slice, env)
        if isinstance(index.literal, int):
            if not -len(owner.type.items) <= index.literal < len(owner.type.items):
                message = say(
                    "{value} has {items} item(s), so there is no item {index}.",
                    value=ast.unparse(node.value)[:40],
                    items=len(owner.type.items),
                    index=index.literal,
                )
                raise rejection("compile-error", message, node)
            literal = owner.literal[index.literal] if isinstance(owner.literal, tuple) else None
            return Typed(owner.type.items[index.literal], literal)
        if not T.is_integer(index.type):
            raise _no_index(index.type, node.slice)
        if len(set(owner.type.items)) == 1:
            return Typed(owner.type.items[0])
        no_constant = (
            "An index of a tuple must be a constant, unless all its items have the same type."
        )
        raise rejection("compile-error", no_constant, node)


def _no_index(kind: T.Type, index: ast.expr) -> KernelRejected:
    hint = lacking(kind)
    if T.is_float(kind):
        hint = "`//` of whole numbers is a whole number, too. int(…) converts a float."
    elif kind == T.BOOL:
        hint = "int(…) turns it into 0 or 1."
    message = say("{type} cannot be an index.", type=kind)
    return rejection("compile-error", message, index, hint)


def _has_step(index: ast.expr) -> bool:
    """Whether there is a slice with a step among the indices."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(item, ast.Slice) and item.step is not None for item in items)


# --- The typer of all expressions -----------------------------------------------------------------


class ExpressionTyper(AttributeTyper, CallTyper, OperatorTyper, SubscriptTyper, ValueTyper):
    """Types the expressions of one function; `flow` and `infer` add statements."""

    handlers: ClassVar = {
        ast.Constant: ValueTyper.constant,
        ast.Name: ValueTyper.name,
        ast.Attribute: AttributeTyper.attribute,
        ast.BinOp: OperatorTyper.binary,
        ast.UnaryOp: OperatorTyper.unary,
        ast.BoolOp: OperatorTyper.boolean,
        ast.Compare: OperatorTyper.compare,
        ast.IfExp: ValueTyper.conditional,
        ast.Tuple: ValueTyper.tuple_expression,
        ast.List: ValueTyper.list_expression,
        ast.Subscript: SubscriptTyper.subscript,
        ast.Call: CallTyper.call,
        ast.Starred: CallTyper.starred,
        ast.Lambda: CallTyper.lambda_expression,
        ast.NamedExpr: ValueTyper.named_expression,
    }
