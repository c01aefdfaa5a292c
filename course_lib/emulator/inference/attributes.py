"""Types what stands behind a dot: of arrays, numbers, modules, dtypes and enumerations."""

from __future__ import annotations

import ast
import enum

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import ATTRIBUTES, Typed
from course_lib.emulator.inference.fields import FieldTyper
from course_lib.emulator.inference.hints import (
    METHODS_THAT_ALLOCATE,
    NUMBAS_ARRAY_ATTRIBUTES,
    NUMBAS_NUMBER_ATTRIBUTES,
    OF_A_NUMBER,
    OF_AN_ARRAY,
    memory_at_run_time,
    no_such_name,
    unknown_attribute,
)
from course_lib.emulator.inference.typings import Environment
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import constant_of_reference
from course_lib.emulator.language.names import OwnModule, Reference, Unusable
from course_lib.emulator.language.near_names import did_you_mean
from course_lib.sentences import say

ARRAY_ATTRIBUTES = ("shape", "size", "ndim", "dtype", "strides", "itemsize", "nbytes", "flat", "T")


class AttributeTyper(FieldTyper):
    """Types attributes."""

    def attribute(self, node: ast.Attribute, env: Environment) -> Typed:
        owner = self.expression(node.value, env)
        if isinstance(owner.type, T.ArrayType):
            return self.array_attribute(node, owner.type, env)
        if isinstance(owner.type, T.RecordType):
            name = self.named_field(node, env)
            if name is None:
                raise self.no_field(node, owner.type)
            return self.field(node, name)
        if isinstance(owner.type, T.VectorType) and node.attr in tuple(owner.type.fields):
            return Typed(owner.type.dtype)
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, Reference):
            return self.reference_attribute(node, owner.type.value.attribute(node.attr))
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, OwnModule):
            return self.known(node, self.of_module(node, owner.type.value))
        if isinstance(owner.type, T.TupleType) and node.attr in owner.type.fields:
            return Typed(owner.type.items[owner.type.fields.index(node.attr)])
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, enum.EnumMeta):
            return self.member_of(node, owner.type.value, node.attr)
        if node.attr == "value" and node.value in self.members:
            return self.known(node, self.members[node.value].value)
        if node.attr == "value" and isinstance(owner.type, T.EnumType):
            hint = "An array of the values, by an index that is passed on, gives it."
            message = "The emulator knows .value of members that are named there."
            raise rejection("unsupported", message, node, hint)
        if node.attr in ("real", "imag") and isinstance(owner.type, np.dtype):
            self.refuse_member(node.value)
            if owner.type != T.BOOL:
                return Typed(T.part_type(owner.type))
        elif T.is_scalar(owner.type) and node.attr in NUMBAS_NUMBER_ATTRIBUTES:
            hint = OF_A_NUMBER.get(node.attr, "The number itself does the same.")
            raise rejection("unsupported", unknown_attribute("a number", node), node, hint)
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, np.dtype):
            return self.dtype_attribute(node, owner.type.value)
        raise rejection(
            "compile-error",
            say("{type} has no attribute .{attribute}.", type=owner.type, attribute=node.attr),
            node,
        )

    def of_module(self, node: ast.Attribute, module: OwnModule) -> object:
        """What a name stands for in a module of one's own."""
        if node.attr not in module.names:
            message = say("{module} has no {name}.", module=module, name=node.attr)
            raise rejection("compile-error", message, node)
        value = module.names[node.attr]
        if isinstance(value, Unusable):
            raise rejection(value.code, value.reason, node, value.hint)
        return value

    def dtype_attribute(self, node: ast.Attribute, dtype: np.dtype) -> Typed:
        """`C.dtype.type`, which casts; other facts about a type are Numba's alone."""
        if node.attr == "type":
            return Typed(T.Static(Reference(f"numpy.{dtype.name}")))
        if node.attr in ("kind", "itemsize"):
            hint = say("It is known beforehand: this is {dtype}.", dtype=dtype)
            raise rejection("unsupported", unknown_attribute("a dtype", node), node, hint)
        raise rejection(
            "compile-error",
            say("{dtype} has no attribute .{attribute}.", dtype=dtype, attribute=node.attr),
            node,
        )

    def array_attribute(self, node: ast.Attribute, array: T.ArrayType, env: Environment) -> Typed:
        match node.attr:
            case "shape" | "strides":
                return Typed(T.TupleType((T.INT64,) * array.ndim))
            case "size" | "nbytes":
                return Typed(T.INT64)
            case "itemsize":
                return self.known(node, np.int64(array.dtype.itemsize))
            case "ndim":
                return self.known(node, array.ndim)
            case "dtype":
                return Typed(T.Static(array.dtype))
            case "T":
                return Typed(array.transposed)
            case "flat":
                if array.layout != "C":
                    message = "The emulator knows .flat of arrays that lie row after row."
                    hint = "An index for every axis reaches the same elements."
                    raise rejection("unsupported", message, node, hint)
                return Typed(T.FlatType(array))
            case "ctypes":
                # Numba has it; but an answer computes with elements, not with addresses.
                message = "An answer may not use the address of an array."
                raise rejection("not-allowed", message, node)
        name = self.named_field(node, env)
        if name is not None:
            return self.field(node, name)
        if node.attr in NUMBAS_ARRAY_ATTRIBUTES:
            hint = "Elements by index, .shape and loops do the same."
            raise rejection("unsupported", unknown_attribute("an array", node), node, hint)
        if allocating := memory_at_run_time(node.attr, node):
            raise allocating
        # Numba knows these methods, but can compile no call of one: it would make a new array.
        named_only = node.attr in METHODS_THAT_ALLOCATE and node not in self.called
        code, hint = ("unsupported", "Leave it out.") if named_only else ("compile-error", "")
        message = say("An array in a kernel has no attribute .{attribute}.", attribute=node.attr)
        near = OF_AN_ARRAY.get(node.attr) or did_you_mean(node.attr, ARRAY_ATTRIBUTES, before=".")
        raise rejection(code, message, node, hint or near)

    def reference_attribute(self, node: ast.Attribute, reference: Reference) -> Typed:
        if reference.path in ATTRIBUTES:
            return Typed(ATTRIBUTES[reference.path].type)
        if missing := no_such_name(reference, node):
            raise missing
        value = constant_of_reference(reference)
        return self.known(node, reference if value is None else value)
