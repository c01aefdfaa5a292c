"""Types of attributes (of arrays, numbers, records, modules, dtypes) and of method calls."""

import ast
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.arrays import (
    FUNCTIONS,
    METHODS,
    RESHAPE,
    start_of,
    static_dtype,
    view_as,
    written_out,
)
from course_lib.emulator.functions.library_functions import UFUNCS, check_arrays
from course_lib.emulator.functions.library_functions import written_out as loop_of_ufunc
from course_lib.emulator.functions.math_functions import NUMBER_METHODS
from course_lib.emulator.inference.typer import Environment, Typer
from course_lib.emulator.inference.unknown_names import (
    METHODS_THAT_ALLOCATE,
    NUMBAS_ARRAY_ATTRIBUTES,
    NUMBAS_NUMBER_ATTRIBUTES,
    OF_A_NUMBER,
    OF_AN_ARRAY,
    memory_at_run_time,
    no_such_name,
    unknown_attribute,
)
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import constant_of_reference
from course_lib.emulator.language.intrinsics import ATTRIBUTES, Typed, need
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import OwnModule, Reference, Unusable, did_you_mean
from course_lib.wording.sentences import say


class FieldTyper(Typer):
    """Types fields of one record, or of every record in an array."""

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
        if not isinstance(index, ast.Constant | ast.Name | ast.UnaryOp) or _is_rest(index):
            return None
        typed = self.expression(index, env)
        named = typed.type.value if isinstance(typed.type, T.Static) else None
        number = typed.literal
        names = owner.dtype.names
        if isinstance(owner, T.RecordType) and isinstance(number, int):
            return names[number] if -len(names) <= number < len(names) else None
        return named if isinstance(named, str) and named in names else None

    def field(self, node: ast.Attribute | ast.Subscript, name: str) -> Typed:
        """The type of a field; the machine is told its name."""
        owner = self.typing.types[node.value]
        assert isinstance(owner, T.RecordType | T.ArrayType)
        self.typing.fields[node] = name
        return Typed(T.field_type(owner, name))

    def no_field(self, node: ast.Attribute | ast.Subscript, record: T.RecordType) -> Exception:
        """The refusal of a field that a record does not have."""
        names = ", ".join(record.dtype.names or ())
        message = say(
            "{record} has the fields {names}.", record=ast.unparse(node.value), names=names
        )
        return rejection("compile-error", message, node, "Which of these fields do you mean?")

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
            message = say("Numba cannot store {type} in a {place}.", type=value.type, place=place)
            raise rejection("compile-error", message, target)

    def store_array(
        self, target: ast.Attribute | ast.Subscript, place: T.ArrayType, value: T.ArrayType
    ) -> None:
        """`r["v"] = a`: Numba copies as many elements as the field has, row after row."""
        one = isinstance(self.typing.types[target.value], T.RecordType)
        alike = (place.dtype, place.ndim) == (value.dtype, value.ndim) and value.layout == "C"
        if not one or not alike:
            message = say("Numba cannot store {value} in a field that is {place}.",
                          value=value, place=place)  # fmt: skip
            hint = (
                "You can store an array of the field's own type if its rows lie one after "
                "another. Copy any other array in a loop."
            )
            raise rejection("compile-error", message, target, hint)
        if isinstance(target, ast.Attribute):
            dotted = "The emulator cannot copy a whole array into a field after a dot."
            form = say('{record}["{field}"] = … is the form that Numba compiles.',
                       record=ast.unparse(target.value), field=target.attr)  # fmt: skip
            raise rejection("unsupported", dotted, target, form)


def _is_rest(index: ast.expr) -> bool:
    """Whether an index is `...`."""
    return isinstance(index, ast.Constant) and index.value is Ellipsis


# --- Attributes -----------------------------------------------------------------------------------


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
            hint = "Put the values into an array, and pass an index."
            message = "The emulator supports .value only for members that are named there."
            raise rejection("unsupported", message, node, hint)
        if node.attr in ("real", "imag") and isinstance(owner.type, np.dtype):
            self.refuse_member(node.value)
            if owner.type != T.BOOL:
                return Typed(T.part_type(owner.type))
        elif T.is_scalar(owner.type) and node.attr in NUMBAS_NUMBER_ATTRIBUTES:
            hint = OF_A_NUMBER.get(node.attr, "Use the number itself.")
            raise rejection("unsupported", unknown_attribute("a number", node), node, hint)
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, np.dtype):
            return self.dtype_attribute(node, owner.type.value)
        message = say("{type} has no attribute .{attribute}.", type=owner.type, attribute=node.attr)
        raise rejection("compile-error", message, node)

    def of_module(self, node: ast.Attribute, module: OwnModule) -> object:
        """What a name means in a module of the student's own."""
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
            hint = say("It is known in advance: this is {dtype}.", dtype=dtype)
            raise rejection("unsupported", unknown_attribute("a dtype", node), node, hint)
        message = say("{dtype} has no attribute .{attribute}.", dtype=dtype, attribute=node.attr)
        raise rejection("compile-error", message, node)

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
                    message = (
                        "The emulator supports .flat only if the rows of the array lie one after "
                        "another."
                    )
                    hint = "Use an index for every axis instead."
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


# --- Calls of methods ---------------------------------------------------------------------------


CallFunction = Callable[[ast.Call, Kernel, list[Typed], Environment], Typed]


class MethodTyper(Typer):
    """Types calls such as `z.conjugate()`, `a.sum()`, `np.sum(a)` and `a.view(np.int32)`."""

    call_function: CallFunction

    def method(self, node: ast.Call, env: Environment) -> Typed | None:
        """The type of a method's call; None if the method is unknown."""
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        if not isinstance(node.func, ast.Attribute):
            return self.function_of_array(node, env)
        name, owner = node.func.attr, node.func.value
        if name not in METHODS and name not in NUMBER_METHODS and name not in ("view", "reshape"):
            return None
        kind = self.expression(owner, env).type
        if name == "reshape" and isinstance(kind, T.ArrayType):
            return self.reshape(node, owner, kind, env)
        if name == "view" and len(node.args) == 1 and isinstance(kind, np.dtype | T.ArrayType):
            return self.view(node, owner, kind, env)
        if isinstance(kind, np.dtype) and name in NUMBER_METHODS:
            return self.method_of_number(node, owner, Typed(kind), env)
        if isinstance(kind, T.ArrayType) and name in METHODS and not kind.dtype.names:
            if len(node.args) == (name == "fill"):
                return self.loop_over(node, name, owner, False, env)
        return self.function_of_array(node, env) if isinstance(kind, T.Static) else None

    def function_of_array(self, node: ast.Call, env: Environment) -> Typed | None:
        """`np.sum(a)` and its like; `sum`, `min` and `max` of an array with one axis."""
        if len(node.args) != 1 or not isinstance(node.func, ast.Attribute | ast.Name):
            return None
        if isinstance(node.func, ast.Name) and node.func.id in {*env, *self.outer, *self.locals}:
            return None
        called = self.expression(node.func, env).type
        path = called.value.path if _is_reference(called) else ""  # type: ignore[union-attr]
        if path not in FUNCTIONS:
            return None
        kind = self.expression(node.args[0], env).type
        is_python = path.startswith("builtins.")
        if not isinstance(kind, T.ArrayType) or kind.dtype.names or (is_python and kind.ndim != 1):
            return None
        return self.loop_over(node, FUNCTIONS[path], node.args[0], is_python, env)

    def loop_over(
        self, node: ast.Call, name: str, owner: ast.expr, is_python: bool, env: Environment
    ) -> Typed:
        """Call a loop over all elements of an array, written in the kernel language."""
        array = self.typing.types[owner]
        assert isinstance(array, T.ArrayType)
        items: ast.expr = owner
        if array.ndim != 1:
            items = ast.copy_location(ast.Attribute(owner, "flat", ast.Load()), node)
        start: ast.expr = ast.Constant(start_of(name, array.dtype, is_python))  # type: ignore[arg-type]
        given = node.args[0] if name == "fill" else ast.copy_location(start, node)
        if node not in self.loops_of_methods:
            loop = self.loop_kernel(name, written_out(name, node.lineno), {})
            self.loops_of_methods[node] = (loop, [items, given])
        kernel, arguments = self.loops_of_methods[node]
        self.typing.methods[node] = arguments
        typed = [self.expression(argument, env) for argument in arguments]
        return self.call_function(node, kernel, typed, {})

    def loop_kernel(
        self, name: str, tree: ast.FunctionDef, names_there: Mapping[str, object]
    ) -> Kernel:
        names = tuple(argument.arg for argument in tree.args.args)
        namespace = dict(names_there)
        return replace(self.kernel, name=name, parameters=names, tree=tree, namespace=namespace)

    def ufunc_into_array(
        self, node: ast.Call, function: Reference, arguments: Sequence[Typed]
    ) -> Typed | None:
        """`np.sin(a, out)`: a loop over all elements of `out`; None if there is no such array."""
        ufunc = UFUNCS.get(function.path)
        if ufunc is None or node.keywords or len(arguments) != ufunc.nin + 1:
            return None
        *inputs, out = (typed.type for typed in arguments)
        if not isinstance(out, T.ArrayType):
            return None
        check_arrays(ufunc, inputs, out)
        if node not in self.loops_of_methods:
            tree = loop_of_ufunc(inputs, out, node.lineno)
            kernel = self.loop_kernel(ufunc.__name__, tree, {"function": function})
            self.loops_of_methods[node] = (kernel, node.args)
        return self.call_function(node, self.loops_of_methods[node][0], list(arguments), {})

    def method_of_number(
        self, node: ast.Call, owner: ast.expr, typed: Typed, env: Environment
    ) -> Typed:
        assert isinstance(node.func, ast.Attribute)
        arguments = [typed, *(self.expression(argument, env) for argument in node.args)]
        intrinsic = NUMBER_METHODS[node.func.attr]
        try:
            result = intrinsic.typing(arguments, {})
        except T.TypingError as error:
            said = say(".{name} {said}.", name=node.func.attr, said=error.said)
            raise rejection("compile-error", said, node) from None
        self.typing.methods[node] = [owner, *node.args]
        self.typing.calls[node] = intrinsic
        return result

    def reshape(
        self, node: ast.Call, owner: ast.expr, array: T.ArrayType, env: Environment
    ) -> Typed:
        """`.reshape(2, 3)`, of a shape or of lengths: the same elements, row after row."""
        kinds = [self.expression(argument, env).type for argument in node.args]
        if len(kinds) == 1 and isinstance(kinds[0], T.TupleType):
            kinds = list(kinds[0].items)
        whole = all(map(T.is_integer, kinds)) and bool(node.args)
        if not whole or array.layout == "A":
            said = "takes whole numbers" if not whole else "takes arrays without gaps only"
            raise rejection("compile-error", say(".reshape {said}.", said=said), node)
        if array.layout == "F" and array.ndim > 1:
            message = (
                "The emulator supports .reshape only if the rows of the array lie one after "
                "another."
            )
            raise rejection("unsupported", message, node, "Use an index for every axis instead.")
        self.typing.methods[node] = [owner, *node.args]
        self.typing.calls[node] = RESHAPE
        return Typed(replace(array, ndim=len(kinds), layout="C"))

    def view(
        self, node: ast.Call, owner: ast.expr, kind: np.dtype | T.ArrayType, env: Environment
    ) -> Typed:
        """`.view(dtype)`: the same bytes as numbers of another type."""
        try:
            named = self.expression(node.args[0], env).type
            need(
                not (isinstance(named, T.Static) and isinstance(named.value, str)),
                "does not take text",
            )
            wanted = static_dtype(named)
        except T.TypingError as error:
            message = say(".view {said}.", said=error.said)
            raise rejection("compile-error", message, node) from None
        now = kind.dtype if isinstance(kind, T.ArrayType) else kind
        if wanted.itemsize != now.itemsize and isinstance(kind, np.dtype):
            message = say("Numba cannot view {now} as {wanted}.", now=now, wanted=wanted)
            hint = "Their numbers have different sizes."
            raise rejection("compile-error", message, node, hint)
        in_rows = isinstance(kind, T.ArrayType) and kind.layout == "C" and kind.ndim > 0
        if (wanted.itemsize != now.itemsize and not in_rows) or wanted.names or now.names:
            message = say("The emulator cannot view {now} as {wanted}.", now=now, wanted=wanted)
            hint = (
                "It supports .view between types of the same size. Between types of different "
                "sizes, it supports .view only if the rows of the array lie one after another."
            )
            raise rejection("unsupported", message, node, hint)
        self.typing.methods[node] = [owner]
        self.typing.calls[node] = view_as(wanted, isinstance(kind, T.ArrayType))
        return Typed(replace(kind, dtype=wanted) if isinstance(kind, T.ArrayType) else wanted)


def _is_reference(kind: T.Type) -> bool:
    return isinstance(kind, T.Static) and isinstance(kind.value, Reference)
