"""Types calls of methods: of numbers, and of whole arrays (see array_methods.py)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.array_methods import (
    FUNCTIONS,
    METHODS,
    RESHAPE,
    start_of,
    view_as,
    written_out,
)
from course_lib.emulator.functions.arrays import static_dtype
from course_lib.emulator.functions.complex_functions import NUMBER_METHODS
from course_lib.emulator.functions.intrinsics import Typed, need
from course_lib.emulator.functions.ufuncs import UFUNCS, check_arrays
from course_lib.emulator.functions.ufuncs import written_out as loop_of_ufunc
from course_lib.emulator.inference.typer import Typer
from course_lib.emulator.inference.typings import Environment
from course_lib.emulator.language import types as T
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import Reference
from course_lib.sentences import say

CallFunction = Callable[[ast.Call, Kernel, list[Typed], Environment], Typed]


class MethodTyper(Typer):
    """Types calls such as `z.conjugate()`, `a.sum()`, `np.sum(a)` and `a.view(np.int32)`."""

    call_function: CallFunction

    def method(self, node: ast.Call, env: Environment) -> Typed | None:
        """The type of a method's call; None if it is none that is known."""
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
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
        typed = [self.expression(each, env) for each in arguments]
        return self.call_function(node, kernel, typed, {})

    def loop_kernel(
        self, name: str, tree: ast.FunctionDef, names_there: Mapping[str, object]
    ) -> Kernel:
        names = tuple(each.arg for each in tree.args.args)
        namespace = dict(names_there)
        return replace(self.kernel, name=name, parameters=names, tree=tree, namespace=namespace)

    def ufunc_into_array(
        self, node: ast.Call, function: Reference, arguments: Sequence[Typed]
    ) -> Typed | None:
        """`np.sin(a, out)`: a loop over all elements of `out`; None if there is no such array."""
        ufunc = UFUNCS.get(function.path)
        if ufunc is None or node.keywords or len(arguments) != ufunc.nin + 1:
            return None
        *inputs, out = (each.type for each in arguments)
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
            said = say(".{name}: {said}.", name=node.func.attr, said=error.said)
            raise rejection("compile-error", said, node) from None
        self.typing.methods[node] = [owner, *node.args]
        self.typing.calls[node] = intrinsic
        return result

    def reshape(
        self, node: ast.Call, owner: ast.expr, array: T.ArrayType, env: Environment
    ) -> Typed:
        """`.reshape(2, 3)`, of a shape or of lengths: the same elements, row after row."""
        kinds = [self.expression(each, env).type for each in node.args]
        if len(kinds) == 1 and isinstance(kinds[0], T.TupleType):
            kinds = list(kinds[0].items)
        whole = all(map(T.is_integer, kinds)) and bool(node.args)
        if not whole or array.layout == "A":
            said = "takes whole numbers" if not whole else "takes arrays without gaps only"
            raise rejection("compile-error", say(".reshape {said}.", said=said), node)
        if array.layout == "F" and array.ndim > 1:
            message = "The emulator knows .reshape of arrays that lie row after row."
            raise rejection("unsupported", message, node, "An index for every axis reaches them.")
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
                not (isinstance(named, T.Static) and isinstance(named.value, str)), "takes no text"
            )
            wanted = static_dtype(named)
        except T.TypingError as error:
            message = say(".view: {said}.", said=error.said)
            raise rejection("compile-error", message, node) from None
        now = kind.dtype if isinstance(kind, T.ArrayType) else kind
        if wanted.itemsize != now.itemsize and isinstance(kind, np.dtype):
            message = say("Numba sees no {now} as {wanted}.", now=now, wanted=wanted)
            hint = "The two have numbers of different sizes."
            raise rejection("compile-error", message, node, hint)
        in_rows = isinstance(kind, T.ArrayType) and kind.layout == "C" and kind.ndim > 0
        if (wanted.itemsize != now.itemsize and not in_rows) or wanted.names or now.names:
            message = say("The emulator sees no {now} as {wanted}.", now=now, wanted=wanted)
            hint = "It knows .view of types of one size, and of arrays that lie row after row."
            raise rejection("unsupported", message, node, hint)
        self.typing.methods[node] = [owner]
        self.typing.calls[node] = view_as(wanted, isinstance(kind, T.ArrayType))
        return Typed(replace(kind, dtype=wanted) if isinstance(kind, T.ArrayType) else wanted)


def _is_reference(kind: T.Type) -> bool:
    return isinstance(kind, T.Static) and isinstance(kind.value, Reference)
