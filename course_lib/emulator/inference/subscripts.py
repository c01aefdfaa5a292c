"""Types what stands in square brackets: elements and parts of arrays, items of tuples."""

from __future__ import annotations

import ast
import enum
from dataclasses import replace

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import Typed
from course_lib.emulator.inference.fields import FieldTyper
from course_lib.emulator.inference.hints import lacking
from course_lib.emulator.inference.typings import Environment
from course_lib.emulator.language import types as T
from course_lib.sentences import say


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
                message = "The elements of .flat have one number as their index."
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
                message = say("The emulator does not look into {type} by index.", type=owner.type)
                raise rejection("unsupported", message, node, "Name what is meant, by itself.")
            hint = ""
            if owner.type == T.Static(None) and isinstance(node.value, ast.Name):
                hint = say(
                    "From which line does {name} come? A function without return gives nothing.",
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
            raise rejection(
                "compile-error",
                say(
                    "{array} has {axes}, and {given} indices stand in the brackets.",
                    array=ast.unparse(node.value),
                    axes="one axis" if owner.type.ndim == 1 else f"{owner.type.ndim} axes",
                    given=len(axes),
                ),
                node,
                say(
                    "Which numbers single out an element of {array}?", array=ast.unparse(node.value)
                ),
            )
        self.note_from_end(node)
        part = owner.type.indexed(axes)
        if _has_step(node.slice):
            part = replace(part, layout="A")
        return Typed(part if part.ndim or rest else T.element_type(part))

    def note_from_end(self, node: ast.Subscript) -> None:
        """Remember on which axes indices are negative as they stand there, on purpose."""
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
        if isinstance(typed.type, T.TupleType) and all(map(T.is_integer, typed.type.items)):
            return ["index"] * len(typed.type.items)
        if T.is_integer(typed.type):
            return ["index"]
        if typed.type == T.Static(None):
            hint = "Leave it out, and index with one number fewer."
            message = "The emulator does not know None as an index."
            raise rejection("unsupported", message, index, hint)
        if isinstance(typed.type, T.ArrayType) and not typed.type.ndim:
            message = "The emulator takes no array without axes as an index."
            hint = say("{array}[()] is its number.", array=ast.unparse(index)[:40])
            raise rejection("unsupported", message, index, hint)
        hint = "Use `//` for a whole number." if T.is_float(typed.type) else lacking(typed.type)
        raise rejection(
            "compile-error", say("{type} cannot be an index.", type=typed.type), index, hint
        )

    def slice_types(self, node: ast.Slice, env: Environment) -> None:
        for bound in (node.lower, node.upper, node.step):
            kind = T.INT64 if bound is None else self.expression(bound, env).type
            if kind == T.Static(None):
                continue
            if T.is_scalar(kind) and not T.is_integer(kind):
                message = "The emulator knows slices with whole numbers as bounds."
                raise rejection("unsupported", message, node, "`//` gives a whole number.")
            if not T.is_integer(kind):
                raise rejection("compile-error", "The bounds of a slice must be integers.", node)

    def tuple_item(self, node: ast.Subscript, owner: Typed, env: Environment) -> Typed:
        assert isinstance(owner.type, T.TupleType)
        if isinstance(node.slice, ast.Slice):
            hint = "Name the items: (t[1], t[2])."
            raise rejection("unsupported", "The emulator does not cut tuples.", node, hint)
        index = self.expression(node.slice, env)
        if isinstance(index.literal, int):
            if not -len(owner.type.items) <= index.literal < len(owner.type.items):
                raise rejection(
                    "compile-error",
                    say(
                        "{value} has {items} item(s), so there is no item {index}.",
                        value=ast.unparse(node.value)[:40],
                        items=len(owner.type.items),
                        index=index.literal,
                    ),
                    node,
                )
            literal = owner.literal[index.literal] if isinstance(owner.literal, tuple) else None
            return Typed(owner.type.items[index.literal], literal)
        if T.is_integer(index.type) and len(set(owner.type.items)) == 1:
            return Typed(owner.type.items[0])
        raise rejection("compile-error", "A tuple's index must be a constant here.", node)


def _has_step(index: ast.expr) -> bool:
    """Whether there is a slice with a step among the indices."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(item, ast.Slice) and item.step is not None for item in items)
