"""Calls in a program's host part: its own functions, NumPy's, the host's API, and launches."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.emulator import Kernel, Program
from course_lib.emulator.language.definitions import function_behind
from course_lib.emulator.language.names import Reference
from course_lib.emulator.plain import values
from course_lib.emulator.plain.functions import FROM_ITEMS, FUNCTIONS, Function, Scope, stopped
from course_lib.emulator.plain.values import Items
from course_lib.host.arguments import HostArguments
from course_lib.host.host_api import THREADS_OF_FORALL, host_functions, must_be_by_position
from course_lib.tab.programs.expressions import OF_NUMPY, HostExpressions
from course_lib.tab.programs.names import KernelNames, LeftOut, NotRun
from course_lib.tab.programs.numpy_functions import SLOW, NumPy, check_size, must_be_plain
from course_lib.tab.programs.objects import (
    Configured,
    Method,
    TellingKernel,
    dtype_of,
    method_of,
    text_of,
)
from course_lib.wording.sentences import say

STEPS_OF_A_CALL = 12  # of NumPy's, or of a method
SLOWER = 10  # times the steps for its bytes: sorting, and random numbers
MOST_LINES, LONGEST_LINE = 200, 10_000
_COMPILERS = ("numba.cuda.jit", "numba.jit", "numba.njit")
# What of the host's API a program may call; of GPUs and their times nothing is known here.
_OF_CUDA = """is_available synchronize to_device device_array device_array_like pinned_array
    pinned_array_like mapped_array mapped_array_like managed_array stream default_stream event
    pinned defer_cleanup profiling close profile_start profile_stop""".split()
_WITH_SHAPE = ("device_array", "pinned_array", "mapped_array", "managed_array")

Launch = Callable[[Configured, HostArguments, int], Any]


class HostCalls(HostExpressions):
    """The calls of a program, and what it is known by afterwards.

    Attributes:
        source: the program.
        launch: launches a kernel.
        printed: lines, those of the kernels among them.
        left_out: what was not run, by its first line.
        held: the lines whose assertions hold.
        kernels: how many kernels were defined.
        sets: the names outside of itself that a function sets which is left out, by its own.
    """

    def __init__(self, text: str, names: dict[str, Any], launch: Launch) -> None:
        names["__name__"] = "__main__"
        super().__init__(names)
        self.source, self.launch = text, launch
        self.numpy = NumPy()
        self.cuda = host_functions(lambda *given: None)
        self.cuda["is_available"] = lambda: True  # the emulated one is
        self.printed: list[str] = []
        self.unfinished = ""  # line that is being printed
        self.left_out: dict[int, LeftOut] = {}
        self.held: list[int] = []
        self.kernels = 0
        self.sets: dict[str, list[str]] = {}

    def call(self, node: ast.Call, scope: Scope) -> Any:
        function = self.value(node.func, scope) if not self.appends(node) else None
        if function is None:
            return self.append_item(node, scope)
        if isinstance(function, Reference) and function.path in _COMPILERS:
            return self.compiled(node, scope)
        arguments = list(self.arguments(node, scope))
        by_name = {str(keyword.arg): self.value(keyword.value, scope) for keyword in node.keywords}
        if None in (keyword.arg for keyword in node.keywords):
            raise NotRun("** in a call is not supported here.")
        match function:
            case Function():
                return self.call_function(function, arguments, by_name, node)
            case Configured():
                self.guarded(node, must_be_by_position, by_name)
                handed = self.guarded(node, HostArguments, arguments)
                return self.launch(function, handed, node.lineno)
            case Kernel():
                message = "A launch needs its grid and its block: kernel[grid, block](…)."
                stopped(node, message, code="invalid-launch")
            case Method(owner=Kernel() as kernel):
                return self.for_all(kernel, *arguments, **by_name)
            case Method():
                made, look = method_of(function)
                self.spend(STEPS_OF_A_CALL, node)
                return self.applied(node, made, look, arguments, by_name)
            case Reference(path=path):
                return self.call_path(path, arguments, by_name, node)
        message = say(
            "Only a function can be called, but this is {kind}.", kind=values.kind_of(function)
        )
        stopped(node, message)

    def appends(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Attribute) and node.func.attr == "append"

    def append_item(self, node: ast.Call, scope: Scope) -> None:
        assert isinstance(node.func, ast.Attribute)
        items = self.value(node.func.value, scope)
        if not isinstance(items, list) or len(node.args) != 1:
            raise NotRun("append is supported only for a list and one item.")
        items.append(self.value(node.args[0], scope))
        self.guarded(node, self.checked, items)

    def arguments(self, node: ast.Call, scope: Scope) -> Iterator[Any]:
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                yield from self.iterate(self.value(argument.value, scope), node)
            else:
                yield self.value(argument, scope)

    def program(self, scope: Scope) -> Program:
        """The text as the emulator reads functions and imports in it."""
        return Program(self.source, names=KernelNames(scope))  # type: ignore[arg-type]

    def compiled(self, node: ast.Call, scope: Scope) -> Kernel:
        """`cuda.jit(f)`."""
        found = function_behind(node, self.program(scope))
        if found is None or found.is_for_cpu:
            raise NotRun("what this does to a function is not supported here.")
        self.kernels += not found.is_device
        return found

    def for_all(self, kernel: Kernel, ntasks: int, tpb: int = 0, *rest: Any, **more: Any) -> Any:
        threads = tpb or THREADS_OF_FORALL
        return Configured(kernel, -(-int(ntasks) // threads), threads)

    def applied(
        self,
        node: ast.AST,
        function: Callable[..., Any],
        look: Callable[..., Any],
        arguments: Sequence[Any],
        by_name: dict[str, Any],
    ) -> Any:
        """The result of a function of NumPy's or of the host's API, after a look at its size."""
        given = [self.handed(value) for value in arguments]
        named = {name: self.handed(value) for name, value in by_name.items()}
        if not isinstance(getattr(function, "__self__", None), str):
            must_be_plain([*given, *named.values()])
        try:
            look(*given, **named)
        except (TypeError, ValueError, IndexError):
            self.guarded(node, np.broadcast_shapes, *map(np.shape, given))
            raise NotRun("what happens to these arguments is not supported here.") from None
        result = self.guarded(node, lambda *_: function(*given, **named), *given, *named.values())
        if getattr(function, "__name__", "") in SLOW:
            self.spend(SLOWER * self.size(result) // values.ITEMS_PER_STEP, node)
        return result

    def handed(self, value: Any) -> Any:
        """A value as NumPy takes it."""
        if isinstance(value, Reference) or (isinstance(value, str) and value == "int"):
            dtype = dtype_of(value)
            if dtype is None:
                raise NotRun(say("{name} cannot be passed on here.", name=str(value)))
            return dtype
        if isinstance(value, range):
            check_size(len(value))
            return np.array(value)
        if isinstance(value, (Items, set, Function, Kernel, Configured, Method)):
            raise NotRun("this cannot be passed to NumPy here.")
        if isinstance(value, (tuple, list)):
            return type(value)(self.handed(item) for item in value)
        return value

    def call_path(
        self, path: str, arguments: list[Any], by_name: dict[str, Any], node: ast.Call
    ) -> Any:
        """A function by its dotted name."""
        root, _, rest = path.partition(".")
        if path == "builtins.print":
            return self.print(node, arguments, by_name)
        dtype = Reference(path).dtype
        if dtype is not None:
            return self.applied(node, dtype.type, lambda value=0: None, arguments, by_name)
        if path == "numpy.errstate":
            return contextlib.nullcontext()
        if root == "numpy":
            known = self.numpy.look_up(rest)
            if known is None:
                raise NotRun(say("np.{name} is not supported here.", name=rest))
            if rest in ("dot", "matmul", "inner") and len(arguments) == 2:
                self.spend_product(*arguments)
            self.spend(STEPS_OF_A_CALL, node)
            return self.applied(node, *known, arguments, by_name)
        if root == "course_lib":
            return self.call_course(rest, arguments, node)
        if path.startswith("numba.cuda."):
            return self.call_cuda(path.removeprefix("numba.cuda."), arguments, by_name, node)
        if by_name and path not in ("builtins.enumerate", "builtins.sum", "builtins.round"):
            raise NotRun(say("{name}= is not supported here.", name=next(iter(by_name))))
        return self.call_named(path, [*arguments, *by_name.values()], node)

    def call_course(self, name: str, arguments: list[Any], node: ast.Call) -> Any:
        """The course's own way to launch, without what it shows of a launch."""
        match name, arguments:
            case "start", _:
                return None
            case "emulate", [Kernel() as kernel]:
                return TellingKernel(kernel)
            case "run", [Kernel() as kernel, grid, block, *rest]:
                handed = self.guarded(node, HostArguments, rest)
                return self.launch(Configured(kernel, grid, block, 0, True), handed, node.lineno)
        raise NotRun(say("course_lib.{name} is not supported here.", name=name))

    def call_cuda(
        self, name: str, arguments: list[Any], by_name: dict[str, Any], node: ast.Call
    ) -> Any:
        if name not in _OF_CUDA:
            raise NotRun(
                say("without a GPU, there is no telling what cuda.{name} returns.", name=name)
            )
        look: Callable[..., Any] = lambda *given, **named: None  # noqa: E731
        if name in _WITH_SHAPE:
            look = lambda shape=(), *given, **named: check_size(shape)  # noqa: E731
        return self.applied(node, self.cuda[name], look, arguments, by_name)

    def call_named(self, path: str, arguments: list[Any], node: ast.AST) -> Any:
        """A function of Python's or of math's, also of numbers and arrays of NumPy's."""
        if path in _OF_ITEMS:
            given = [self.iterate(arguments[0], node), *arguments[1:]] if (
                len(arguments) == 1 or path == "builtins.sum"
            ) else arguments  # fmt: skip
            return self.guarded(node, _OF_ITEMS[path], *given)
        if path in _OF_ANYTHING and arguments and isinstance(arguments[0], OF_NUMPY):
            return self.guarded(node, _OF_ANYTHING[path], *arguments)
        if path == "builtins.str" and len(arguments) == 1:
            return self.guarded(node, text_of, arguments[0])
        if path not in FUNCTIONS and path not in FROM_ITEMS:
            raise NotRun(say("{name} is not supported here.", name=path.removeprefix("builtins.")))
        plain = [
            argument.item() if isinstance(argument, np.generic) else argument
            for argument in arguments
        ]
        if path in FROM_ITEMS:
            plain = [
                Items(iter(argument)) if isinstance(argument, np.ndarray) else argument
                for argument in plain
            ]
        return super().call_named(path, plain, node)

    # --- what is printed --------------------------------------------------------------------

    def print(self, node: ast.Call, arguments: list[Any], by_name: dict[str, Any]) -> None:
        if not by_name.keys() <= {"sep", "end", "flush"}:
            raise NotRun("printing to a file is not supported here.")
        texts = [self.guarded(node, text_of, argument) for argument in arguments]
        sep, end = by_name.get("sep"), by_name.get("end")
        self.show((" " if sep is None else sep).join(texts) + ("\n" if end is None else end))

    def show(self, text: str) -> None:
        """Print a text; of what is printed beyond all measure nothing is kept."""
        lines = (self.unfinished + text).split("\n")
        self.unfinished = lines.pop()[:LONGEST_LINE]
        room = MOST_LINES - len(self.printed)
        self.printed += [line[:LONGEST_LINE] for line in lines[: max(room, 0)]]
        if len(lines) > room >= 0 and lines:
            self.printed.append("… and more lines, which are not kept.")


def _total(items: Any, start: Any = 0) -> Any:
    for item in items:
        start = start + _number(item)
    return start


def _number(value: Any) -> Any:
    if not isinstance(value, (*values.Number, np.ndarray, np.generic)):
        raise TypeError(f"a number is needed here, not {values.kind_of(value)}")
    return value


# Functions of Python's that take numbers and arrays of NumPy's as they take Python's own.
_OF_ITEMS: dict[str, Callable[..., Any]] = {
    "builtins.sum": _total,
    "builtins.max": lambda *items: max(*items),
    "builtins.min": lambda *items: min(*items),
}
_OF_ANYTHING: dict[str, Callable[..., Any]] = {
    "builtins.abs": abs,
    "builtins.len": len,
    "builtins.round": round,
    "builtins.float": float,
    "builtins.int": int,
    "builtins.bool": bool,
}
