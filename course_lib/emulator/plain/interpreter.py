"""Walks a plain Python function, not a kernel: one caller, Python's own rules, never executed.

Some answers are arithmetic and no kernel: how many blocks fit on an SM, for instance. They are
read as text, like every answer, so they are interpreted here. One method evaluates expressions,
one executes statements, and a scope is a dictionary. Three things keep any text harmless: values
are of Python's plain types only (see values), attributes are looked up in a table that the
caller hands over (`Record`), and everything is counted: steps, depth, and how long things grow.

A mistake of the function, such as a division by zero, ends the walk with a finding at its line.
So does what is outside the subset; it never gets another meaning than Python's.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.emulator.budget import Budget, BudgetExceeded, StepCounter
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import Reference
from course_lib.emulator.plain import values
from course_lib.emulator.plain.functions import (
    FROM_ITEMS,
    FUNCTIONS,
    Function,
    Scope,
    attribute,
    bind,
    check_signature,
    function_of,
    look_up,
    names_set_in,
    not_known,
    stopped,
)
from course_lib.emulator.plain.values import ITEMS_PER_STEP, Items, Record, Stop, is_plain
from course_lib.wording.sentences import Line, say

STEPS = 1_000_000
MAX_DEPTH = 150  # expressions and statements inside each other, over all calls


@dataclass
class InterpretedLoop:
    """A loop that is running: `timeout` names the one that turned most often."""

    line: int
    turns: int = 0


@dataclass(frozen=True)
class Returned:
    """What a `return` gives."""

    value: Any


BREAK, CONTINUE = object(), object()


def call(kernel: Kernel, arguments: Sequence[Any], budget: Budget | None = None) -> Any:
    """What `kernel(*arguments)` returns, `kernel` being a plain function as a syntax tree.

    Raises KernelRejected if it cannot be followed to its end, and ValueError for an argument that
    is no number, text, truth value, tuple of these, or `Record`.
    """
    return Interpreter(budget or Budget(steps=STEPS)).run(kernel, arguments)


class Interpreter:
    """One call from outside, with all that it calls."""

    def __init__(self, budget: Budget) -> None:
        self.steps = StepCounter(budget)
        self.depth = 0
        self.loops: list[InterpretedLoop] = []

    def run(self, kernel: Kernel, arguments: Sequence[Any]) -> Any:
        for argument in arguments:
            if not is_plain(argument) and not isinstance(argument, Record):
                raise ValueError(f"{argument!r} is no argument for a plain function")
        function = function_of(kernel)
        try:
            return self.call_function(function, list(arguments), {}, kernel.tree)
        except BudgetExceeded as stop:
            raise self.timeout(stop.line) from None
        except RecursionError:
            raise rejection("not-allowed", "This is nested too deeply.", kernel.tree) from None

    def timeout(self, line: int) -> KernelRejected:
        busiest = max(self.loops, key=lambda loop: loop.turns, default=None)
        if busiest is None:
            return rejection("timeout", "This takes too many steps.", line)
        message = say(
            "The loop in {line} has made {turns} iterations, and the budget of steps is used up.",
            line=Line(busiest.line),
            turns=busiest.turns,
        )
        hint = "Which variable in the loop's condition changes in its body?"
        return rejection("timeout", message, busiest.line, hint)

    # --- calls ------------------------------------------------------------------------------

    def call_function(
        self, function: Function, arguments: list[Any], by_name: dict[str, Any], node: ast.AST
    ) -> Any:
        scope = Scope(function.names, names_set_in(function.tree), function.outer)
        scope.variables.update(bind(function, arguments, by_name, node))
        came = self.execute(function.body, scope)
        return came.value if isinstance(came, Returned) else None

    def call_named(self, path: str, arguments: list[Any], node: ast.AST) -> Any:
        """A function of Python's or of math's."""
        if path in FUNCTIONS:
            return self.guarded(node, FUNCTIONS[path], *arguments)
        if path in FROM_ITEMS:
            several = path in ("builtins.min", "builtins.max") and len(arguments) > 1
            given = [
                argument if several or not isinstance(argument, (*values.Sequence, set, Items))
                else self.iterate(argument, node)
                for argument in arguments
            ]  # fmt: skip
            return self.guarded(node, FROM_ITEMS[path], *given)
        if path.startswith("course_lib"):
            message = "The course's own functions cannot be used in an answer."
            raise rejection("not-allowed", message, node)
        not_known(path.removeprefix("builtins."), node)

    def guarded(self, node: ast.AST, function: Callable[..., Any], *arguments: Any) -> Any:
        """Apply Python's own operator or function; its complaints become findings."""
        try:
            for argument in arguments:
                self.spend(self.size(argument) // ITEMS_PER_STEP, node)
            result = self.checked(function(*arguments))
            self.spend(self.size(result) // ITEMS_PER_STEP, node)
            return result
        except Stop as stop:
            raise rejection(stop.code, stop.message, node) from None
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            message = say("Python stops here: {said}.", said=str(error))
            code, hint = next(
                told for kind, *told in values.PYTHON_STOPS if isinstance(error, kind)
            )
            raise rejection(code, message, node, hint) from None

    def spend(self, steps: int, node: ast.AST) -> None:
        self.steps.spend(steps, getattr(node, "lineno", 0))

    # --- statements -------------------------------------------------------------------------

    def execute(self, body: Sequence[ast.stmt], scope: Scope) -> Any:
        """Execute statements; Returned, BREAK or CONTINUE where one of them leaves the body."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = "Functions call each other, or blocks are nested, too deeply here."
            raise rejection("timeout", message, body[0])
        try:
            for statement in body:
                self.spend(1, statement)
                came = self.statement(statement, scope)
                if came is not None:
                    return came
            return None
        finally:
            self.depth -= 1

    def statement(self, statement: ast.stmt, scope: Scope) -> Any:
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value, scope)
                for target in targets:
                    self.assign(target, result, scope)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.value(value, scope), scope)
            case ast.AugAssign():
                self.augment(statement, scope)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.value(value, scope)
            case ast.Return(value=value):
                return Returned(None if value is None else self.value(value, scope))
            case ast.If(test=test, body=body, orelse=orelse):
                return self.execute(body if self.test(test, scope) else orelse, scope)
            case ast.For() | ast.While():
                return self.loop(statement, scope)
            case ast.Break():
                return BREAK
            case ast.Continue():
                return CONTINUE
            case ast.FunctionDef():
                scope.variables[statement.name] = self.nested(statement, scope)
            case ast.Import() | ast.ImportFrom():
                self.read_import(statement, scope)
            case ast.Assert(test=test):
                if not self.test(test, scope):
                    stopped(statement, "This assertion does not hold.")
            case ast.Raise():
                stopped(
                    statement, "The function raises an error here instead of returning a value."
                )
            case ast.Pass():
                pass
            case _:
                not_known(f"`{type(statement).__name__.lower()}`", statement)
        return None

    def loop(self, statement: ast.For | ast.While, scope: Scope) -> Any:
        running = InterpretedLoop(statement.lineno)
        self.loops.append(running)
        for _ in self.turns(statement, scope):
            running.turns += 1
            came = self.execute(statement.body, scope)
            if came is BREAK or isinstance(came, Returned):
                self.loops.pop()
                return None if came is BREAK else came
        self.loops.pop()
        return self.execute(statement.orelse, scope)

    def turns(self, statement: ast.For | ast.While, scope: Scope) -> Iterator[None]:
        """One item for each turn of the loop; a `for` sets its variable."""
        if isinstance(statement, ast.While):
            while self.test(statement.test, scope):
                yield
        else:
            for value in self.iterate(self.value(statement.iter, scope), statement.iter):
                self.assign(statement.target, value, scope)
                yield

    def iterate(self, items: Any, node: ast.AST) -> Iterator[Any]:
        if isinstance(items, Items):
            source = items.iterator
        elif isinstance(items, (*values.Sequence, set)):
            source = iter(items)
        else:
            stopped(node, say("A loop cannot go over {kind}.", kind=values.kind_of(items)))
        try:
            for value in source:
                self.spend(1, node)
                yield value
        except RuntimeError as error:  # a set that changes while a loop goes over it
            stopped(node, say("Python stops here: {error}.", error=str(error)))

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.variables[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = self.guarded(target, values.unpacked, self.iterate(value, target))
                if len(parts) != len(targets):
                    message = say(
                        "{targets} names here, and {given} values.",
                        targets=len(targets),
                        given=len(parts),
                    )
                    stopped(target, message)
                for inner_target, part in zip(targets, parts, strict=True):
                    self.assign(inner_target, part, scope)
            case ast.Subscript(value=owner, slice=place):
                items, index = self.value(owner, scope), self.index(place, scope)
                self.guarded(target, values.set_element, items, index, value)
            case ast.Attribute():
                only_read = "The attributes of what is passed in can only be read."
                raise rejection("not-allowed", only_read, target)
            case _:
                raise rejection("unsupported", "This cannot be assigned to here.", target)

    def augment(self, statement: ast.AugAssign, scope: Scope) -> None:
        """`target op= value`; what the target's index says is worked out once."""
        match statement.target:
            case ast.Name() as target:
                result = self.updated(self.value(target, scope), statement, scope)
                scope.variables[target.id] = result
            case ast.Subscript(value=owner, slice=place) as target:
                items, index = self.value(owner, scope), self.index(place, scope)
                left = self.guarded(target, values.element, items, index)
                result = self.updated(left, statement, scope)
                self.guarded(target, values.set_element, items, index, result)
            case target:
                self.assign(target, None, scope)

    def updated(self, left: Any, statement: ast.AugAssign, scope: Scope) -> Any:
        if isinstance(left, list):
            raise rejection("unsupported", "A list grows by append here, not by +=.", statement)
        right = self.value(statement.value, scope)
        return self.guarded(statement, values.binary, statement.op, left, right)

    def nested(self, tree: ast.FunctionDef | ast.Lambda, scope: Scope) -> Function:
        check_signature(tree)
        defaults = tuple(self.value(default, scope) for default in tree.args.defaults)
        name = tree.name if isinstance(tree, ast.FunctionDef) else "the lambda"
        return Function(name, tree, scope.names, scope, defaults)

    def read_import(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for alias in statement.names:
            module = alias.name
            if isinstance(statement, ast.ImportFrom):
                module = statement.module or "."
            if module != "math" or alias.name == "*":
                message = say("Only math can be imported here, not {module}.", module=module)
                raise rejection("not-allowed", message, statement)
            path = "math" if isinstance(statement, ast.Import) else f"math.{alias.name}"
            scope.variables[alias.asname or alias.name] = Reference(path)

    # --- expressions ------------------------------------------------------------------------

    def test(self, node: ast.expr, scope: Scope) -> bool:
        return self.truth(node, self.value(node, scope))

    def truth(self, node: ast.expr, value: Any) -> bool:
        return values.truth(value)

    # What is done with values, and which are known; a program has arrays as well.
    binary = staticmethod(values.binary)
    unary = staticmethod(values.unary)
    element = staticmethod(values.element)
    compared = staticmethod(values.compare)
    checked = staticmethod(values.checked)
    size = staticmethod(values.size)

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression."""
        self.spend(1, node)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise rejection("timeout", "Functions call each other too deeply here.", node)
        try:
            return self.evaluate(node, scope)
        finally:
            self.depth -= 1

    def evaluate(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.Constant(value=literal):
                return self.literal(literal, node)
            case ast.Name(id=name):
                return look_up(name, node, scope, self.spend)
            case ast.Attribute(value=owner, attr=name):
                return attribute(self.value(owner, scope), name, node)
            case ast.BinOp(left=left, op=op, right=right):
                operands = self.value(left, scope), self.value(right, scope)
                return self.guarded(node, self.binary, op, *operands)
            case ast.UnaryOp(op=op, operand=operand):
                return self.guarded(node, self.unary, op, self.value(operand, scope))
            case ast.BoolOp(op=op, values=operands):
                return self.any_or_all(isinstance(op, ast.Or), operands, scope)
            case ast.Compare():
                return self.compare(node, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.test(test, scope) else orelse, scope)
            case ast.Call():
                return self.call(node, scope)
            case ast.Subscript(value=owner, slice=index):
                items, place = self.value(owner, scope), self.index(index, scope)
                return self.guarded(node, self.element, items, place)
            case ast.Tuple(elts=items):
                return self.guarded(node, tuple, [self.value(item, scope) for item in items])
            case ast.List(elts=items):
                return self.guarded(node, list, [self.value(item, scope) for item in items])
            case ast.ListComp():
                return self.guarded(node, values.collect, self.comprehend(node, scope))
            case ast.Set(elts=items):
                found = [self.value(item, scope) for item in items]
                return self.guarded(node, lambda: values.gather(iter(found)))
            case ast.SetComp():
                return self.guarded(node, values.gather, self.comprehend(node, scope))
            case ast.GeneratorExp():
                return Items(self.comprehend(node, scope))
            case ast.Lambda():
                return self.nested(node, scope)
            case ast.JoinedStr(values=parts):
                texts = [self.text(part, scope) for part in parts]
                return self.guarded(node, "".join, texts)
        hint = ""
        if isinstance(node, ast.Dict):
            hint = "Use a variable for each value instead."
            if not node.keys:
                hint = "`{}` is a dictionary. An empty set is `set()`."
        message = "`{unknown}` is not supported in a plain function."
        raise rejection("unsupported", message, node, hint, unknown=ast.unparse(node)[:60])

    def literal(self, literal: Any, node: ast.AST) -> Any:
        if not is_plain(literal):
            not_known(f"A {type(literal).__name__}", node)
        return self.guarded(node, lambda: literal)

    def any_or_all(self, is_or: bool, operands: Sequence[ast.expr], scope: Scope) -> Any:
        for expression in operands:
            found = self.value(expression, scope)
            if self.truth(expression, found) == is_or:
                break
        return found

    def compare(self, node: ast.Compare, scope: Scope) -> Any:
        left = self.value(node.left, scope)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator, scope)
            found = self.guarded(node, self.compared, op, left, right)
            if comparator is not node.comparators[-1] and not self.truth(node, found):
                break
            left = right
        return found

    def index(self, node: ast.expr, scope: Scope) -> Any:
        if not isinstance(node, ast.Slice):
            return self.value(node, scope)
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if bound is None else self.value(bound, scope) for bound in bounds))

    def text(self, part: ast.expr, scope: Scope) -> str:
        """A part of an f-string."""
        if not isinstance(part, ast.FormattedValue):
            result: str = self.value(part, scope)
            return result
        if part.conversion not in (-1, ord("s")):
            message = "Only {plain} and {rounded} are supported here."
            raise rejection("unsupported", message, part, plain="{name}", rounded="{name:.2f}")
        form = "" if part.format_spec is None else self.value(part.format_spec, scope)
        result = self.guarded(part, values.formatted, self.value(part.value, scope), form)
        return result

    def call(self, node: ast.Call, scope: Scope) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in values.METHODS:
            return self.method(node, node.func, scope)
        function = self.value(node.func, scope)
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            raise rejection("unsupported", "* in a call is not supported here.", node)
        arguments = [self.value(argument, scope) for argument in node.args]
        by_name = {str(keyword.arg): self.value(keyword.value, scope) for keyword in node.keywords}
        if isinstance(function, Function):
            return self.call_function(function, arguments, by_name, node)
        if isinstance(function, Reference):
            if by_name and function.path != "builtins.print":
                name = ", ".join(by_name)
                message = say("The argument {name}= is not supported here.", name=name)
                raise rejection("unsupported", message, node)
            return self.call_named(function.path, arguments, node)
        message = say(
            "Only a function can be called, but this is {kind}.", kind=values.kind_of(function)
        )
        stopped(node, message)

    def method(self, node: ast.Call, called: ast.Attribute, scope: Scope) -> Any:
        """`items.append(item)`, and what else is known of this kind."""
        known = values.METHODS[called.attr]
        owner, *given = (self.value(argument, scope) for argument in (called.value, *node.args))
        if type(owner) is not known.owner or len(given) not in known.counts or node.keywords:
            raise rejection("unsupported", known.sentence, node)
        return self.guarded(node, known.does, owner, *given)

    def comprehend(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope
    ) -> Iterator[Any]:
        """The items of a comprehension, one when it is asked for."""
        own = frozenset(
            name.id
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        )
        inner = Scope(scope.names, own, scope)
        # The first iterable belongs to the surrounding scope and is evaluated at once.
        first = self.value(node.generators[0].iter, scope)
        return self.rounds(node, 0, self.iterate(first, node), inner)

    def rounds(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        level: int,
        items: Iterator[Any],
        scope: Scope,
    ) -> Iterator[Any]:
        clause = node.generators[level]
        for item in items:
            self.assign(clause.target, item, scope)
            if not all(self.test(condition, scope) for condition in clause.ifs):
                continue
            if level + 1 == len(node.generators):
                yield self.value(node.elt, scope)
            else:
                further = self.value(node.generators[level + 1].iter, scope)
                yield from self.rounds(node, level + 1, self.iterate(further, node), scope)
