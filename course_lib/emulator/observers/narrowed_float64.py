"""What LLVM narrows: operations of float64 of which the compiled kernel has nothing left.

Their operands are numbers that float32 holds, and their result is rounded to it at once; or they
are constants, which the compiler works out itself.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.intrinsics import Atomic, Cast
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.observers.values_in_text import names_set

FLOAT32 = np.dtype(np.float32)
HELD = (FLOAT32, np.dtype(np.float16))  # types whose numbers float32 holds exactly
DEEPEST = 50  # variables that are followed from one to the next
NARROWED = (ast.Add, ast.Sub, ast.Mult, ast.Div)
Setting = ast.Assign | ast.AugAssign  # of one variable
Reaching = dict[str, frozenset[Setting | None]]
ANY: frozenset[Setting | None] = frozenset([None])


@lru_cache(maxsize=16)
def narrowed_lines(typing: Typing) -> frozenset[int]:
    """The lines of a function of which no float64 operation is left."""
    text = _Text(typing)
    lines: dict[bool, set[int]] = {True: set(), False: set()}
    for node in text.float64_operations:
        lines[text.is_narrowed(node)].add(node.lineno)
    return frozenset(lines[True] - lines[False])


class _Settings:
    """Where each read of a variable has its value from.

    Attributes:
        of: a read, by itself or by `+=`, and the statements that may have set it; None among them
            for any of the function, and for what is none, such as a loop or a parameter.
        readers: the opposite.
    """

    def __init__(self, tree: ast.FunctionDef | ast.Lambda) -> None:
        self.of: dict[ast.AST, frozenset[Setting | None]] = {}
        self.readers: defaultdict[Setting, set[ast.AST]] = defaultdict(set)
        named = (node.target for node in ast.walk(tree) if isinstance(node, ast.NamedExpr))
        self._set_within = {target.id for target in named}
        body = [ast.Return(tree.body)] if isinstance(tree, ast.Lambda) else tree.body
        self._block(body, {})
        every: defaultdict[str, set[Setting]] = defaultdict(set)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AugAssign) and (name := _set_alone(node)):
                every[name].add(node)
        for read, settings in self.of.items():
            assert isinstance(read, ast.Name)
            for setting in every[read.id] if None in settings else settings:
                if setting is not None:
                    self.readers[setting].add(read)

    def _block(self, body: Sequence[ast.stmt], known: Reaching) -> Reaching:
        for statement in body:
            known = self._after(statement, known)
        return known

    def _after(self, statement: ast.stmt, known: Reaching) -> Reaching:
        """What has set each variable behind a statement."""
        if isinstance(statement, ast.Assign | ast.AugAssign) and (name := _set_alone(statement)):
            self._read(statement.value, known)
            if isinstance(statement, ast.AugAssign):
                self._read(statement.target, known)
            return {**known, name: frozenset([statement])}
        inside = known | dict.fromkeys(names_set(statement), ANY)
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                self._read(test, known)
                one, two = self._block(body, known), self._block(orelse, known)
                return {name: one.get(name, ANY) | two.get(name, ANY) for name in {**one, **two}}
            case ast.For(iter=ast.expr() as read) | ast.While(test=read):
                self._read(read, inside)
                self._block([*statement.body, *statement.orelse], inside)
                return inside
        self._read(statement, inside)
        return inside

    def _read(self, node: ast.AST, known: Reaching) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                is_known = part.id not in self._set_within
                self.of[part] = known.get(part.id, ANY) if is_known else ANY


def _set_alone(node: Setting) -> str:
    """The variable that a statement sets, and nothing else; "" if there is none."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
    return ""


class _Text:
    """A function's text: what is rounded to float32 at once, and what float32 holds."""

    def __init__(self, typing: Typing) -> None:
        self.typing = typing
        self.nodes = list(ast.walk(typing.kernel.tree))
        self.constants: dict[ast.expr, float | None] = {}

    @cached_property
    def settings(self) -> _Settings:
        return _Settings(self.typing.kernel.tree)

    @cached_property
    def own(self) -> set[str]:
        kernel = self.typing.kernel
        return names_set(kernel.tree).union(kernel.parameters)

    @cached_property
    def rounded(self) -> set[ast.AST]:
        """What is stored as float32, or converted to it; and what only leads to that."""
        found = set(self._rounded_at_once())
        self._follow_variables(found)
        return found

    def _rounded_at_once(self) -> Iterator[ast.AST]:
        """The expressions whose value is stored as float32, or converted to it."""
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Subscript(value=array)], value=value):
                    if self._is_of_float32(array):
                        yield value
                case ast.AugAssign(target=ast.Subscript(value=array)) if self._is_of_float32(array):
                    yield node
                case ast.Call(args=[first, *_] as given):
                    target = self.typing.calls.get(node)
                    is_cast = isinstance(target, Cast) and self.typing.types.get(node) == FLOAT32
                    if is_cast or (isinstance(target, Atomic) and self._is_of_float32(first)):
                        yield given[-1]

    def _follow_variables(self, rounded: set[ast.AST]) -> None:
        """The same of values whose variables are used nowhere else, and behind a minus."""
        count = -1
        while count < len(rounded):
            count = len(rounded)
            for setting, readers in self.settings.readers.items():
                if readers <= rounded:
                    rounded.add(setting if isinstance(setting, ast.AugAssign)
                                     else setting.value)  # fmt: skip
            for node in self.nodes:
                if isinstance(node, ast.UnaryOp) and node in rounded:
                    rounded.add(node.operand)

    def _is_of_float32(self, array: ast.expr) -> bool:
        kind = self.typing.types.get(array)
        return isinstance(kind, T.ArrayType) and kind.dtype == FLOAT32

    @property
    def float64_operations(self) -> Iterator[ast.BinOp | ast.AugAssign | ast.Call]:
        """What computes in float64: operators, and calls of functions that are no conversions."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(self.typing.calls.get(node), Cast):
                continue
            if isinstance(node, ast.BinOp | ast.Call):
                if self.typing.types.get(node) == T.FLOAT64:
                    yield node
            elif isinstance(node, ast.AugAssign):
                kinds = {self.typing.types.get(part) for part in (node.target, node.value)}
                is_whole = any(kind and T.is_integer(kind) for kind in kinds)
                if T.FLOAT64 in kinds or (is_whole and FLOAT32 in kinds):
                    yield node

    def is_narrowed(self, node: ast.BinOp | ast.AugAssign | ast.Call) -> bool:
        """Is an operation carried out in float32, or by the compiler?"""
        if not isinstance(node, ast.AugAssign) and self._constant(node) is not None:
            return True
        if node not in self.rounded or isinstance(node, ast.Call):
            return False
        if not isinstance(node.op, NARROWED):
            return False
        if isinstance(node, ast.BinOp):
            return self._is_held(node.left) and self._is_held(node.right)
        is_element = isinstance(node.target, ast.Subscript)  # of float32, or it were not rounded
        return self._is_held(node.value) and (is_element or self._is_held(node.target))

    def _is_held(self, value: ast.expr, depth: int = DEEPEST) -> bool:
        """Does float32 hold a value exactly, whatever its type?"""
        kind = self.typing.types.get(value)
        if isinstance(kind, np.dtype) and kind in HELD:
            return True
        if isinstance(value, ast.Call) and isinstance(self.typing.calls.get(value), Cast):
            return len(value.args) == 1 and self._is_held(value.args[0], depth)
        if known := self._set_to(value, depth):
            return self._is_held(known, depth - 1)
        number = self._constant(value)
        with np.errstate(over="ignore"):
            return number is not None and float(np.float32(number)) == number

    def _set_to(self, value: ast.expr, depth: int) -> ast.expr | None:
        """What a variable of the function was set to, where only one statement can have done it."""
        (setting, *more) = self.settings.of.get(value, ANY)
        is_known = isinstance(setting, ast.Assign) and not more and depth > 0
        return setting.value if is_known and setting else None

    def _constant(self, value: ast.expr, depth: int = DEEPEST) -> float | None:
        """What the compiler works out: the number as the kernel has it; None if it cannot."""
        if value not in self.constants:
            self.constants[value] = self._worked_out(value, depth)
        return self.constants[value]

    def _worked_out(self, value: ast.expr, depth: int) -> float | None:
        parts: list[ast.expr] = []
        match value:
            case ast.Name(id=name) if name in self.own:
                known = self._set_to(value, depth)
                return self._constant(known, depth - 1) if known else None
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.UnaryOp(operand=operand):
                parts = [operand]
            case ast.Call(args=[argument]) if self._is_worked_out(value):
                parts = [argument]
            case _ if any(isinstance(n, ast.Call) or (isinstance(n, ast.Name) and n.id in self.own)
                          for n in ast.walk(value)):  # fmt: skip
                return None
        numbers = [ast.Constant(self._constant(part, depth)) for part in parts]
        if any(number.value is None for number in numbers):
            return None
        try:
            found = evaluate_constant(_made_of(value, numbers), self.typing.kernel.namespace)
        except NotConstant:
            return None
        if not isinstance(found, bool | int | float | np.integer | np.floating):
            return None
        is_float32 = self.typing.types.get(value) == FLOAT32
        with np.errstate(over="ignore"):
            return float(np.float32(found)) if is_float32 else np.asarray(found).item()

    def _is_worked_out(self, call: ast.Call) -> bool:
        """Is it a conversion, or a root? Of the other functions LLVM knows no value."""
        is_cast = isinstance(self.typing.calls.get(call), Cast)
        return not call.keywords and (is_cast or ast.unparse(call.func) == "math.sqrt")


def _made_of(value: ast.expr, numbers: list[ast.Constant]) -> ast.expr:
    """An operation or a call, of numbers; or what it is, where it has none."""
    match value, numbers:
        case ast.BinOp(op=op), [left, right]:
            return ast.BinOp(left, op, right)
        case ast.UnaryOp(op=op), [operand]:
            return ast.UnaryOp(op, operand)
        case ast.Call(func=function), [argument]:
            return ast.Call(function, [argument], [])
    return value
