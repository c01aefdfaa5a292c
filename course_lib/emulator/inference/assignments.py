"""Types what is assigned: to names, fields, elements and parts of arrays, and to tuples of them."""

from __future__ import annotations

import ast

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import Typed
from course_lib.emulator.functions.iteration import item_type
from course_lib.emulator.inference.expressions import ExpressionTyper
from course_lib.emulator.inference.hints import lacking
from course_lib.emulator.inference.typings import Environment, Variable
from course_lib.emulator.language import types as T
from course_lib.sentences import say


class AssignmentTyper(ExpressionTyper):
    """Types the assignments of one function."""

    def assign(self, node: ast.Assign, env: Environment) -> Environment:
        value = self.expression(node.value, env)
        for target in node.targets:
            env = self.bind(target, value, env)
            if isinstance(target, ast.Subscript | ast.Attribute):
                self.refuse_member_as_element(node.value, self.typing.types[target])
        return env

    def annotated_assign(self, node: ast.AnnAssign, env: Environment) -> Environment:
        if node.value is None:
            return env
        return self.bind(node.target, self.expression(node.value, env), env)

    def augmented_assign(self, node: ast.AugAssign, env: Environment) -> Environment:
        value = self.expression(node.value, env)
        if isinstance(node.target, ast.Subscript):
            current = Typed(self.place_type(node.target, env))
        else:
            current = self.expression(node.target, env)
        if T.is_float(current.type) or T.is_complex(current.type):
            self.refuse_member(node.value)
        result = Typed(self.binary_type(node, node.op, current.type, value.type))
        if isinstance(node.target, ast.Subscript):
            self.store(node.target, result, env)
            return env
        if isinstance(node.target, ast.Attribute) and node.target in self.typing.fields:
            self.store_field(node.target, result)
            return env
        if not isinstance(node.target, ast.Name):
            raise rejection("compile-error", "Numba cannot assign to this.", node.target)
        return {**env, node.target.id: Variable(result)}

    def bind(self, target: ast.expr, value: Typed, env: Environment) -> Environment:
        match target:
            case ast.Name(id=name):
                self.typing.types[target] = value.type
                self.common.spend(len(env) // 16, target)
                return {**env, name: Variable(value)}
            case ast.Subscript():
                self.store(target, value, env)
                return env
            case ast.Attribute():
                self.typing.types[target] = self.expression(target, env).type
                if target in self.typing.fields:
                    self.store_field(target, value)
                    return env
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if any(isinstance(item, ast.Starred) for item in items):
                    raise rejection("compile-error", "Numba cannot unpack with `*`.", target)
                for item, part in zip(items, self.parts(value, items, target), strict=True):
                    env = self.bind(item, part, env)
                return env
        raise rejection("compile-error", "Numba cannot assign to this.", target)

    def parts(self, value: Typed, items: list[ast.expr], node: ast.AST) -> list[Typed]:
        if isinstance(value.type, T.ArrayType | T.FlatType):
            return [self.item_type(value, node)] * len(items)
        if isinstance(value.type, T.RangeType | T.ZipType):
            message = "The emulator unpacks tuples and arrays."
            raise rejection("unsupported", message, node, "Name its items one by one.")
        if not isinstance(value.type, T.TupleType):
            raise rejection(
                "compile-error",
                say("Only a tuple can be unpacked, not {type}.", type=value.type),
                node,
                lacking(value.type),
            )
        if len(value.type.items) != len(items):
            raise rejection(
                "compile-error",
                say(
                    "{names} names on the left, but {values} values on the right.",
                    names=len(items),
                    values=len(value.type.items),
                ),
                node,
            )
        literals = value.literal if isinstance(value.literal, tuple) else [None] * len(items)
        return [Typed(kind, lit) for kind, lit in zip(value.type.items, literals, strict=True)]

    def item_type(self, iterated: Typed, node: ast.AST) -> Typed:
        if isinstance(iterated.type, T.ZipType) and not isinstance(node, ast.Call):
            message = "The emulator knows zip and enumerate in the head of a loop only."
            raise rejection("unsupported", message, node, "Write the call itself there.")
        try:
            return Typed(item_type(iterated.type))
        except T.NotEmulated as error:
            message = say("The loop {said}.", said=error.said)
            raise rejection("unsupported", message, node, error.hint) from None
        except T.TypingError as error:
            message = say("Numba refuses this: {said}.", said=error.said)
            raise rejection("compile-error", message, node) from None

    def store(self, target: ast.Subscript, value: Typed, env: Environment) -> None:
        place = self.place_type(target, env)
        self.typing.types[target] = place
        if target in self.typing.fields or isinstance(place, T.RecordType):
            return self.store_field(target, value)
        array = self.typing.types[target.value]
        if isinstance(array, T.ArrayType) and not array.writable:
            raise rejection("compile-error", "This array is read-only.", target)
        element = place.dtype if isinstance(place, T.ArrayType) else place
        if T.is_complex(value.type) and not T.is_complex(element):
            message = say("Numba stores no complex number in an element of {type}.", type=element)
            hint = "Its parts are .real and .imag; abs(z) is its length."
            raise rejection("compile-error", message, target, hint)
        if isinstance(place, T.ArrayType) and not T.is_scalar(value.type):
            self.store_part(target, place, value)
        elif not T.is_scalar(value.type):
            is_text = isinstance(value.type, T.Static) and isinstance(value.type.value, str)
            hint = "A number stands without quotes." if is_text else lacking(value.type)
            raise rejection(
                "compile-error",
                say("Cannot store {type} in an element of {place}.", type=value.type, place=place),
                target,
                hint,
            )
        if isinstance(place, T.ArrayType):
            self.typing.parts.add(target)

    def store_part(self, target: ast.Subscript, place: T.ArrayType, value: Typed) -> None:
        """Refuse what Numba does not write into a part of an array: all but numbers and tuples."""
        if isinstance(value.type, T.ArrayType):
            raise rejection(
                "compile-error",
                "Numba cannot copy a whole array to another one inside a kernel.",
                target,
                "Which loop, or which thread, copies each element?",
            )
        items = value.type.items if isinstance(value.type, T.TupleType) else ()
        fits = items and value.type.is_uniform and T.is_scalar(items[0])  # type: ignore[union-attr]
        if not fits or place.ndim != 1:
            message = say(
                "Cannot store {type} in a part of an array, {place}.", type=value.type, place=place
            )
            raise rejection("compile-error", message, target)

    def place_type(
        self, node: ast.Subscript, env: Environment
    ) -> np.dtype | T.ArrayType | T.RecordType:
        """The type of the element, or of the part of an array, that a subscript names."""
        kind = self.subscript_type(node, env).type
        named = isinstance(kind, np.dtype | T.ArrayType | T.RecordType)
        if not named or isinstance(self.typing.types[node.value], T.TupleType):
            raise rejection("compile-error", "Numba cannot store into this.", node)
        assert isinstance(kind, np.dtype | T.ArrayType | T.RecordType)
        return kind
