"""Types the fields of records: `a[i].x`, `a[i]['x']`, `a['x'][i]`, and stores into them."""

from __future__ import annotations

import ast

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import Typed
from course_lib.emulator.inference.typer import Typer
from course_lib.emulator.inference.typings import Environment
from course_lib.emulator.language import types as T
from course_lib.sentences import say


class FieldTyper(Typer):
    """Types fields, of one record or of every record in an array."""

    def named_field(self, node: ast.Attribute | ast.Subscript, env: Environment) -> str | None:
        """The field that an attribute or a subscript names; None if it names none."""
        owner = self.typing.types[node.value]
        if not isinstance(owner, T.RecordType | T.ArrayType):
            return None
        if isinstance(node, ast.Attribute):
            return node.attr if node.attr in T.field_names(owner) else None
        if not owner.dtype.names:
            return None
        index = node.slice
        if not isinstance(index, ast.Constant | ast.Name) or _is_rest(index):
            return None
        typed = self.expression(index, env)
        named = typed.type.value if isinstance(typed.type, T.Static) else None
        number = typed.literal
        names = owner.dtype.names
        if isinstance(owner, T.RecordType) and isinstance(number, int) and -1 < number < len(names):
            return names[number]
        return named if isinstance(named, str) and named in names else None

    def field(self, node: ast.Attribute | ast.Subscript, name: str) -> Typed:
        """The type of a field; the machine is told its name."""
        owner = self.typing.types[node.value]
        assert isinstance(owner, T.RecordType | T.ArrayType)
        self.typing.fields[node] = name
        return Typed(T.field_type(owner, name))

    def no_field(self, node: ast.Attribute | ast.Subscript, record: T.RecordType) -> Exception:
        """The refusal of what a record does not have."""
        names = ", ".join(record.dtype.names or ())
        message = say(
            "{record} has the fields {names}.", record=ast.unparse(node.value), names=names
        )
        return rejection("compile-error", message, node, "Which of them is meant?")

    def store_field(self, target: ast.Attribute | ast.Subscript, value: Typed) -> None:
        """Refuse what does not fit into a field, or into an element that is a record."""
        place = self.typing.types[target]
        if isinstance(value.type, T.ArrayType) and isinstance(place, T.ArrayType):
            return self.store_array(target, place, value.type)
        if isinstance(place, T.RecordType):
            fits = isinstance(value.type, T.RecordType) and value.type.dtype == place.dtype
        else:
            whole = T.is_complex(place) or not T.is_complex(value.type)
            fits = isinstance(place, np.dtype) and T.is_scalar(value.type) and whole
        if not fits:
            message = say("Numba stores no {type} in a {place}.", type=value.type, place=place)
            raise rejection("compile-error", message, target)

    def store_array(
        self, target: ast.Attribute | ast.Subscript, place: T.ArrayType, value: T.ArrayType
    ) -> None:
        """`r["v"] = a`: Numba copies as many elements as the field has, row after row."""
        one = isinstance(self.typing.types[target.value], T.RecordType)
        alike = (place.dtype, place.ndim) == (value.dtype, value.ndim) and value.layout == "C"
        if not one or not alike:
            message = say("Numba stores no {value} in a field that is {place}.",
                          value=value, place=place)  # fmt: skip
            hint = "An array of the field's own type, row after row, is; a loop copies others."
            raise rejection("compile-error", message, target, hint)
        if isinstance(target, ast.Attribute):
            dotted = "The emulator copies no whole array into a field behind a dot."
            form = say('{record}["{field}"] = … is the form that Numba compiles.',
                       record=ast.unparse(target.value), field=target.attr)  # fmt: skip
            raise rejection("unsupported", dotted, target, form)


def _is_rest(index: ast.expr) -> bool:
    """Whether an index is `...`."""
    return isinstance(index, ast.Constant) and index.value is Ellipsis
