"""Walks the host part of a program as text: NumPy and the host's API by name, the rest is left out.

It is the interpreter of plain functions with arrays among its values. A statement that is not known
is not run, and neither is what needs its result; each is noted with its line, and the walk goes on.
Where Python itself would stop, it ends. Nothing is ever executed: attributes and functions stand in
tables (`objects`, `numpy_functions`, and the host's API), and all work is counted.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import operator
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.emulator import Budget, Kernel, KernelRejected, Program
from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.errors import rejection
from course_lib.emulator.language.constants import constant_of_reference
from course_lib.emulator.language.definitions import (
    function_behind,
    read_statement,
    unknown_decorators,
)
from course_lib.emulator.language.names import Reference, Unusable
from course_lib.emulator.language.operators import BINARY, COMPARE, UNARY
from course_lib.emulator.plain import values
from course_lib.emulator.plain.functions import (
    FROM_ITEMS,
    FUNCTIONS,
    Function,
    Scope,
    look_up,
    stopped,
)
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.values import Items
from course_lib.host.arguments import HostArguments
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.host.host_api import THREADS_OF_FORALL, host_functions, must_be_by_position
from course_lib.tab.arrays import check_size
from course_lib.tab.fields import Refused
from course_lib.tab.programs.names import (
    KernelNames,
    LeftOut,
    Missing,
    NotRun,
    leaves,
    may_write,
    stored_in,
)
from course_lib.tab.programs.numpy_functions import KINDS, NumPy, arrays_in, must_be_plain
from course_lib.tab.programs.objects import (
    Configured,
    Method,
    dtype_of,
    element_size,
    entry_of,
    in_format,
    method_of,
    percent,
    text_of,
)
from course_lib.wording.errors import NoGpuHere, PlainError
from course_lib.wording.sentences import Line, Sentence, say

STEPS = 400_000  # of the host part: seconds in a browser
BYTES_PER_STEP = 4096  # of the arrays that a step makes or looks at
MOST_BYTES = 256 << 20  # of all arrays that a program has at a time
MOST_LINES, LONGEST_LINE = 200, 10_000
NOT_KNOWN = ("unsupported", "not-allowed")  # codes of what is left out; at others Python stops
_COMPILERS = ("numba.cuda.jit", "numba.jit", "numba.njit")
_IN_PLACE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
}
# What of the host's API a program may call; of GPUs and their times nothing is known here.
_OF_CUDA = """synchronize to_device device_array device_array_like pinned_array pinned_array_like
    mapped_array mapped_array_like managed_array stream default_stream event pinned defer_cleanup
    profiling close profile_start profile_stop""".split()
_WITH_SHAPE = ("device_array", "pinned_array", "mapped_array", "managed_array")
_OF_NUMPY = (np.ndarray, np.generic, EmulatedDeviceArray)

Launch = Callable[[Configured, HostArguments, int], None]


class HostInterpreter(Interpreter):
    """One program while it runs.

    Attributes:
        printed: lines, those of the kernels among them.
        left_out: what was not run, by its first line.
        held: the lines whose assertions hold.
        kernels: how many kernels were defined.
    """

    def __init__(self, text: str, names: dict[str, Any], launch: Launch) -> None:
        super().__init__(Budget(steps=STEPS))
        self.source, self.launch = text, launch
        names["__name__"] = "__main__"
        self.top = Scope(names, frozenset(), None, names)
        self.functions: dict[Kernel, Function] = {}
        self.numpy = NumPy()
        self.cuda = host_functions(lambda *given: None)
        self.cuda["is_available"] = lambda: True  # the emulated one is
        self.printed: list[str] = []
        self.unfinished = ""  # line that is being printed
        self.left_out: dict[int, LeftOut] = {}
        self.held: list[int] = []
        self.kernels = 0
        self.unknown: list[tuple[np.ndarray, Missing]] = []
        self.bytes = 0

    def run_all(self, body: Sequence[ast.stmt]) -> None:
        """Run the program.

        Raises:
            KernelRejected: where Python would stop, or no steps are left.
        """
        try:
            with np.errstate(all="ignore"):
                for statement in body:
                    with contextlib.suppress(NotRun):  # of a `return` or `break` it is noted
                        self.execute([statement], self.top)
        except BudgetExceeded as stop:
            raise self.timeout(stop.line) from None
        except RecursionError:
            raise rejection("not-allowed", "This is nested too deeply.", None) from None
        finally:
            if self.unfinished:
                self.show("\n")

    # --- statements -------------------------------------------------------------------------

    def statement(self, statement: ast.stmt, scope: Scope) -> Any:
        try:
            return self.carry_out(statement, scope)
        except NotRun as reason:
            said = reason.said
        except Refused as refused:
            said = str(refused).rstrip(".")
        except KernelRejected as rejected:
            if rejected.findings[0].code not in NOT_KNOWN:
                raise
            said = rejected.findings[0].message.rstrip(".")
        self.leave_out(statement, said, scope)
        return None

    def leave_out(self, statement: ast.stmt, said: Sentence | str, scope: Scope) -> None:
        """Note that a statement was not run, and that nobody knows what it would have changed."""
        line = statement.lineno
        self.left_out.setdefault(line, LeftOut(line, statement.end_lineno or line, said))
        for name in stored_in(statement):
            self.lose(scope.variables.get(name), line)
            scope.variables[name] = Missing(line)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self.lose_arguments(statement.value, scope)
        if leaves(statement):
            raise NotRun(say("it needs {line}", line=Line(line)))

    def lose_arguments(self, call: ast.Call, scope: Scope) -> None:
        """A call that was not made might have changed what it was given; a picture changes nothing.

        What modules do that are not here is not known, and most of them only look.
        """
        root: ast.AST = call
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        names = KernelNames(scope)
        owner = names.raw(root.id) if isinstance(root, ast.Name) else None
        if isinstance(owner, Missing) and owner.module != "random":
            return
        if isinstance(root, ast.Name) and root.id == "print":
            return
        kept = []
        if isinstance(owner, Kernel):
            pairs = zip(call.args, owner.parameters, strict=False)
            kept = [argument for argument, name in pairs if not may_write(owner.tree, name)]
        for node in ast.walk(call):
            if isinstance(node, ast.Name) and node not in kept:
                self.lose(names.raw(node.id), call.lineno)

    def lose(self, value: Any, line: int) -> None:
        """From now on nobody knows what stands in these arrays."""
        if isinstance(value, EmulatedDeviceArray):
            value = value.buffer
        for array in arrays_in(value):
            self.unknown.append((array, Missing(line)))

    def carry_out(self, statement: ast.stmt, scope: Scope) -> Any:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.bring(statement, scope)
            case ast.FunctionDef():
                self.define(statement, scope)
            case ast.With(items=items, body=body):
                return self.within(items, body, scope)
            case ast.Try(body=body, orelse=orelse, finalbody=finalbody):
                return self.execute([*body, *orelse, *finalbody], scope)
            case ast.Delete(targets=targets):
                for target in targets:
                    if not isinstance(target, ast.Name):
                        raise NotRun("only a name can be deleted here")
                    scope.variables.pop(target.id, None)
            case ast.Assert():
                self.assertion(statement, scope)
            case ast.Raise():
                stopped(statement, "The program raises an exception here.", code="raised-exception")
            case (
                ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Return()
                | ast.If() | ast.For() | ast.While() | ast.Break() | ast.Continue() | ast.Pass()
            ):  # fmt: skip
                return super().statement(statement, scope)
            case ast.ClassDef():
                raise NotRun("classes are not followed here")
            case _:
                kind = type(statement).__name__.lower()
                raise NotRun(say("`{kind}` is not followed here", kind=kind))
        return None

    def bring(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Imports, one name after another."""
        strange = []
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                part: ast.stmt = ast.Import([alias])
                name, module = alias.asname or alias.name.split(".")[0], alias.name
            else:
                part = ast.ImportFrom(statement.module, [alias], statement.level)
                name, module = alias.asname or alias.name, statement.module or "."
            read_statement(ast.copy_location(part, statement), self.program(scope))
            if isinstance(scope.variables.get(name), Unusable):
                root = module.split(".")[0]
                scope.variables[name] = Missing(statement.lineno, root)
                strange.append(root)
        if strange:
            said = say(
                "{module} is not here; NumPy, math and numba.cuda are",
                module=", ".join(dict.fromkeys(strange)),
            )
            line = statement.lineno
            self.left_out.setdefault(line, LeftOut(line, statement.end_lineno or line, said))

    def program(self, scope: Scope) -> Program:
        """The text as the emulator reads functions and imports in it."""
        return Program(self.source, names=KernelNames(scope))  # type: ignore[arg-type]

    def define(self, tree: ast.FunctionDef, scope: Scope) -> None:
        """A kernel, a device function, or a function of the host."""
        read_statement(tree, self.program(scope))
        kernel = scope.variables[tree.name]
        if isinstance(kernel, Unusable):
            raise NotRun(kernel.reason.rstrip("."))
        for decorator, _ in unknown_decorators(kernel):
            what = ast.unparse(decorator)
            raise NotRun(say("what @{what} makes of a function is not known here", what=what))
        if kernel.is_decorated and not kernel.is_for_cpu:
            object.__setattr__(kernel, "compiled", {})  # for types of arguments, as Numba does
            self.kernels += not kernel.is_device
            return
        if any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(tree)):
            raise NotRun("a function that sets names outside of itself is not followed here")
        defaults = tuple(self.value(default, scope) for default in tree.args.defaults)
        function = Function(tree.name, tree, self.top.names, self.outer(scope), defaults)
        self.functions[kernel] = function

    def outer(self, scope: Scope) -> Scope | None:
        """The scope around a function; that of the module is looked up at the end anyway."""
        return None if scope is self.top else scope

    def within(self, items: list[ast.withitem], body: list[ast.stmt], scope: Scope) -> Any:
        with contextlib.ExitStack() as stack:
            for item in items:
                context = self.value(item.context_expr, scope)
                if not hasattr(type(context), "__enter__"):
                    raise NotRun("this `with` is not known here")
                entered = stack.enter_context(context)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, entered, scope)
            return self.execute(body, scope)

    def assertion(self, statement: ast.Assert, scope: Scope) -> None:
        if self.test(statement.test, scope):
            self.held.append(statement.lineno)
            return
        said = say("This assertion does not hold: {test}.", test=ast.unparse(statement.test))
        stopped(statement, said, code="wrong-result")

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Subscript):
            owner, index = self.value(target.value, scope), self.index(target.slice, scope)
            if isinstance(owner, (np.ndarray, EmulatedDeviceArray)):
                self.guarded(target, operator.setitem, owner, index, value)
                return
        super().assign(target, value, scope)

    def updated(self, left: Any, statement: ast.AugAssign, scope: Scope) -> Any:
        if not isinstance(left, np.ndarray):
            right = self.value(statement.value, scope)
            return self.guarded(statement, self.binary, statement.op, left, right)
        if type(statement.op) not in _IN_PLACE:
            raise NotRun("this change of an array is not known here")
        right = self.value(statement.value, scope)
        return self.guarded(statement, _IN_PLACE[type(statement.op)], left, right)

    def augment(self, statement: ast.AugAssign, scope: Scope) -> None:
        target = statement.target
        if isinstance(target, ast.Subscript):
            owner, index = self.value(target.value, scope), self.index(target.slice, scope)
            if isinstance(owner, np.ndarray):
                left = self.guarded(target, self.element, owner, index)
                result = self.updated(left, statement, scope)
                self.guarded(target, operator.setitem, owner, index, result)
                return
        super().augment(statement, scope)

    # --- values -----------------------------------------------------------------------------

    def size(self, value: Any) -> int:
        if isinstance(value, _OF_NUMPY):
            return values.ITEMS_PER_STEP * (value.nbytes // BYTES_PER_STEP)
        return values.size(value)

    def checked(self, value: Any) -> Any:
        if isinstance(value, EmulatedDeviceArray):
            self.account(value.buffer)
        elif isinstance(value, np.ndarray):
            self.account(value)
        elif isinstance(value, (tuple, list)):
            values.count(value)
        else:
            return values.checked(value)
        return value

    def account(self, array: np.ndarray) -> None:
        """Count an array's bytes for as long as it lives."""
        if array.dtype.kind not in KINDS:
            raise Refused("only arrays of numbers are known here")
        if array.base is not None:
            return
        self.bytes += array.nbytes
        weakref.finalize(array, self.forget, array.nbytes)
        if self.bytes > MOST_BYTES:
            most = MOST_BYTES >> 20
            raise Refused(f"all arrays together may have {most} MB here")

    def forget(self, size: int) -> None:
        self.bytes -= size

    def guarded(self, node: ast.AST, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return super().guarded(node, function, *arguments)
        except (NotImplementedError, MemoryError, NoGpuHere) as error:
            raise NotRun(str(error).rstrip(".") or type(error).__name__) from None
        except (PlainError, AssertionError) as error:
            said = " ".join(str(error).split())
            code = "wrong-result" if isinstance(error, AssertionError) else "wrong-formula"
            stopped(node, say("Python stops here: {said}.", said=said[:300].rstrip(".")), code=code)
        except AttributeError as error:
            stopped(node, say("Python stops here: {said}.", said=str(error)))

    def known(self, name: str, value: Any) -> Any:
        """What a name stands for.

        Raises:
            NotRun: if nobody knows.
        """
        if isinstance(value, Missing):
            raise value.needed_as(name)
        if isinstance(value, Unusable):
            raise NotRun(value.reason.rstrip("."))
        if self.unknown:
            buffer = value.buffer if isinstance(value, EmulatedDeviceArray) else value
            for array in arrays_in(buffer):
                for lost, missing in self.unknown:
                    if np.may_share_memory(array, lost):
                        raise missing.needed_as(name)
        return self.functions.get(value, value) if isinstance(value, Kernel) else value

    def evaluate(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.Constant(value=value) if value is Ellipsis:
                return value
            case ast.Name(id=name):
                return self.name(name, node, scope)
            case ast.Attribute(value=owner, attr=name):
                return self.attribute(self.value(owner, scope), name)
            case ast.BinOp(left=left, op=op, right=right):
                operands = self.value(left, scope), self.value(right, scope)
                return self.guarded(node, self.binary, op, *operands)
            case ast.UnaryOp(op=op, operand=operand):
                return self.guarded(node, self.unary, op, self.value(operand, scope))
            case ast.Subscript(value=owner, slice=index):
                items, place = self.value(owner, scope), self.index(index, scope)
                return self.guarded(node, self.element, items, place)
            case ast.Dict() | ast.DictComp() | ast.NamedExpr() | ast.Await() | ast.Yield():
                what = ast.unparse(node)[:60]
                raise NotRun(say("`{what}` is not known here", what=what))
        return super().evaluate(node, scope)

    def name(self, name: str, node: ast.Name, scope: Scope) -> Any:
        here: Scope | None = scope
        while here is not None and name not in here.variables:
            if name in here.own:
                break
            here = here.outer
        if here is not None and name in here.variables:
            return self.known(name, here.variables[name])
        if here is None and name in self.top.names:
            return self.known(name, self.top.names[name])
        path = f"builtins.{name}"
        if hasattr(builtins, name) and path not in (*FUNCTIONS, *FROM_ITEMS):
            raise NotRun(say("{name} is not known here", name=name))
        return look_up(name, node, scope, self.spend)  # of Python, or nothing

    def attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, Reference) and not name.startswith("_"):
            reference = owner.attribute(name)
            if reference.path == "numpy.newaxis":
                return None
            constant = constant_of_reference(reference)
            return reference if constant is None else constant
        entry = entry_of(owner)
        if entry and name in entry.attributes:
            return self.checked(getattr(owner, name))
        if entry and name in entry.methods:
            return Method(owner, name)
        raise NotRun(say("the attribute {name} is not known here", name=name))

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if isinstance(left, str) and isinstance(op, ast.Mod):
            return percent(left, right)
        if not isinstance(left, _OF_NUMPY) and not isinstance(right, _OF_NUMPY):
            if isinstance(op, ast.Add) and isinstance(left, list) and isinstance(right, list):
                return left + right
            return values.binary(op, left, right)
        if isinstance(op, ast.MatMult):
            matmul, look = self.numpy.look_up("matmul") or (None, None)
            assert matmul is not None and look is not None
            look(left, right)
            self.spend_product(left, right)
            return matmul(left, right)
        for operand in (left, right):
            if not isinstance(operand, (*values.Number, np.ndarray, np.generic)):
                raise TypeError(f"{type(operand).__name__} is no number or array of numbers")
        check_size(np.broadcast_shapes(np.shape(left), np.shape(right)))
        if isinstance(op, ast.Pow):
            return operator.pow(left, right)
        return BINARY[type(op)](left, right)

    def spend_product(self, left: Any, right: Any) -> None:
        """A product of matrices costs more than their bytes."""
        columns = np.shape(right)[-1] if np.ndim(right) > 1 else 1
        self.steps.spend(int(np.size(left)) * int(columns) // BYTES_PER_STEP, 0)

    def unary(self, op: ast.unaryop, operand: Any) -> Any:
        if isinstance(operand, _OF_NUMPY):
            return not operand if isinstance(op, ast.Not) else UNARY[type(op)](operand)
        return values.unary(op, operand)

    def element(self, items: Any, index: Any) -> Any:
        if isinstance(items, Kernel):
            return self.configured(items, index)
        if isinstance(items, (np.ndarray, EmulatedDeviceArray)):
            element_size(items, index)
            return items[index]
        if isinstance(index, np.integer):
            index = int(index)
        return values.element(items, index)

    def configured(self, kernel: Kernel, index: Any) -> Configured:
        parts = index if isinstance(index, tuple) else (index,)
        if not 2 <= len(parts) <= 4:
            raise TypeError("a launch needs its grid and its block: kernel[grid, block](…)")
        shared = int(parts[3]) if len(parts) == 4 else 0
        return Configured(kernel, parts[0], parts[1], shared)

    def test(self, node: ast.expr, scope: Scope) -> bool:
        value = self.value(node, scope)
        if isinstance(value, _OF_NUMPY):
            return bool(self.guarded(node, bool, value))
        return values.truth(value)

    def any_or_all(self, is_or: bool, operands: Sequence[ast.expr], scope: Scope) -> Any:
        for expression in operands:
            found = self.value(expression, scope)
            truth = bool(self.guarded(expression, bool, found)) if isinstance(
                found, _OF_NUMPY
            ) else values.truth(found)  # fmt: skip
            if truth == is_or:
                break
        return found

    def compare(self, node: ast.Compare, scope: Scope) -> Any:
        left, right = node.left, node.comparators[0]
        if len(node.ops) == 1 and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return self.guarded(
                node, self.compared, node.ops[0], self.value(left, scope), self.value(right, scope)
            )
        return super().compare(node, scope)

    def compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if not isinstance(left, _OF_NUMPY) and not isinstance(right, _OF_NUMPY):
            return values.compare(op, left, right)
        if isinstance(op, ast.In | ast.NotIn):
            return (left in right) == isinstance(op, ast.In)
        check_size(np.broadcast_shapes(np.shape(left), np.shape(right)))
        return COMPARE[type(op)](left, right)

    def index(self, node: ast.expr, scope: Scope) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self.index(part, scope) for part in node.elts)
        return super().index(node, scope)

    def iterate(self, items: Any, node: ast.AST) -> Iterator[Any]:
        return super().iterate(Items(iter(items)) if isinstance(items, np.ndarray) else items, node)

    def text(self, part: ast.expr, scope: Scope) -> str:
        """A part of an f-string."""
        if not isinstance(part, ast.FormattedValue):
            result: str = self.value(part, scope)
            return result
        value = self.value(part.value, scope)
        form = "" if part.format_spec is None else self.value(part.format_spec, scope)
        if part.conversion == ord("r"):
            self.guarded(part, text_of, value)
            value = repr(value)
        result = self.guarded(part, in_format, value, form)
        return result

    # --- calls ------------------------------------------------------------------------------

    def call(self, node: ast.Call, scope: Scope) -> Any:
        function = self.value(node.func, scope) if not self.appends(node) else None
        if function is None:
            return self.append_item(node, scope)
        if isinstance(function, Reference) and function.path in _COMPILERS:
            return self.compiled(node, scope)
        arguments = list(self.arguments(node, scope))
        by_name = {str(each.arg): self.value(each.value, scope) for each in node.keywords}
        if None in (each.arg for each in node.keywords):
            raise NotRun("** in a call is not known here")
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
                return self.applied(node, made, look, arguments, by_name)
            case Reference(path=path):
                return self.call_path(path, arguments, by_name, node)
        message = say(
            "Only a function can be called, and this is {kind}.", kind=values.kind_of(function)
        )
        stopped(node, message)

    def appends(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Attribute) and node.func.attr == "append"

    def append_item(self, node: ast.Call, scope: Scope) -> None:
        assert isinstance(node.func, ast.Attribute)
        items = self.value(node.func.value, scope)
        if not isinstance(items, list) or len(node.args) != 1:
            raise NotRun("append is known for one item and a list")
        items.append(self.value(node.args[0], scope))
        self.guarded(node, self.checked, items)

    def arguments(self, node: ast.Call, scope: Scope) -> Iterator[Any]:
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                yield from self.iterate(self.value(argument.value, scope), node)
            else:
                yield self.value(argument, scope)

    def compiled(self, node: ast.Call, scope: Scope) -> Kernel:
        """`cuda.jit(f)`."""
        found = function_behind(node, self.program(scope))
        if found is None or found.is_for_cpu:
            raise NotRun("what this makes of a function is not known here")
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
        if not isinstance(function, type(str.join)) and look is not None:
            must_be_plain([*given, *named.values()]) if self.is_numeric(function) else None
        with contextlib.suppress(TypeError):  # of a wrong argument NumPy speaks itself
            look(*given, **named)
        return self.guarded(node, lambda *all_of_them: function(*given, **named), *given)

    def is_numeric(self, function: Callable[..., Any]) -> bool:
        return not isinstance(getattr(function, "__self__", None), str)

    def handed(self, value: Any) -> Any:
        """A value as NumPy takes it."""
        if isinstance(value, Reference):
            dtype = dtype_of(value)
            if dtype is None:
                raise NotRun(say("{name} cannot be handed on here", name=value.path))
            return dtype
        if isinstance(value, range):
            return list(value[: values.MAX_ITEMS + 1])
        if isinstance(value, (Items, set, Function, Kernel, Configured, Method)):
            raise NotRun("this cannot be handed to NumPy here")
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
                raise NotRun(say("np.{name} is not known here", name=rest))
            if rest in ("dot", "matmul") and len(arguments) == 2:
                self.spend_product(*arguments)
            return self.applied(node, *known, arguments, by_name)
        if path.startswith("numba.cuda."):
            return self.call_cuda(path.removeprefix("numba.cuda."), arguments, by_name, node)
        if by_name and path not in ("builtins.enumerate", "builtins.sum", "builtins.round"):
            raise NotRun(say("{name}= is not known here", name=next(iter(by_name))))
        return self.call_named(path, [*arguments, *by_name.values()], node)

    def call_cuda(
        self, name: str, arguments: list[Any], by_name: dict[str, Any], node: ast.Call
    ) -> Any:
        if name not in (*_OF_CUDA, "is_available"):
            raise NotRun(say("nobody knows what cuda.{name} gives without a GPU", name=name))
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
        if path in _OF_ANYTHING and arguments and isinstance(arguments[0], _OF_NUMPY):
            return self.guarded(node, _OF_ANYTHING[path], *arguments)
        if path == "builtins.str" and len(arguments) == 1:
            return self.guarded(node, text_of, arguments[0])
        if path not in FUNCTIONS and path not in FROM_ITEMS:
            raise NotRun(say("{name} is not known here", name=path.removeprefix("builtins.")))
        plain = [each.item() if isinstance(each, np.generic) else each for each in arguments]
        if path in FROM_ITEMS:
            plain = [Items(iter(each)) if isinstance(each, np.ndarray) else each for each in plain]
        return super().call_named(path, plain, node)

    # --- what is printed --------------------------------------------------------------------

    def print(self, node: ast.Call, arguments: list[Any], by_name: dict[str, Any]) -> None:
        if not by_name.keys() <= {"sep", "end", "flush"}:
            raise NotRun("print into a file is not known here")
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
            self.printed.append("… and more lines, of which none is kept.")


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
