"""Every small change to a function, so that the one that repairs it can be found by trying.

A change is one step: other brackets, exchanged indices, another operator, name or number, a
statement moved into a loop or out of it. Who tries them knows whether the changed function is
right; then what the change says is true, and it never says what belongs there instead.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeGuard

from course_lib.sentences import say

Path = tuple[tuple[str, int | None], ...]
ARITHMETIC = (ast.Mult, ast.Add, ast.FloorDiv, ast.Div, ast.Mod, ast.Sub)
SISTERS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OTHER_CALLS = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "round": "ceil"}
BRACKETS = "Where do brackets belong?"


@dataclass(frozen=True)
class Change:
    """A function with one thing changed.

    Attributes:
        tree: the changed function.
        line: where the change is.
        code: what the finding is called, if this is the cause.
        says, hint: what is wrong, and a question that leads to it.
        kind: a word for the kind of change, such as "brackets".
    """

    tree: ast.FunctionDef
    line: int
    code: str
    says: str
    hint: str
    kind: str


@dataclass(frozen=True)
class _Place:
    """A node, and the way to it from the function."""

    node: ast.AST
    path: Path


class Changes:
    """The changes to one function.

    `given` are the lines that are not the student's own; `numbers` are tried in place of a
    number. With `is_kernel`, a name is only replaced by one of its sort: an index by an index.
    """

    def __init__(
        self,
        tree: ast.FunctionDef,
        given: Collection[int] = (),
        numbers: Sequence[int] = (),
        is_kernel: bool = False,
    ) -> None:
        self.tree = tree
        self.numbers = tuple(dict.fromkeys(numbers))
        self.is_kernel = is_kernel
        self.given = given
        self.places = [each for each in _places(tree) if not self._is_given(each.node)]
        self.names = self._names()
        self.pairs = [
            (target.elts[0].id, target.elts[1].id)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Tuple)
            if len(target.elts) == 2 and all(isinstance(each, ast.Name) for each in target.elts)
        ]

    def __iter__(self) -> Iterator[Change]:
        first = (self._moved, self._all_exchanged, self._exchanged_indices, self._brackets)
        often = (self._comparisons, self._calls, self._kept, self._twice_the_number)
        parts = (self._dropped, self._operators, self._names_of_a_sort)
        # Of a kernel, each is a launch: what is confused most often is tried first.
        rest = (*(parts[::-1] if self.is_kernel else parts), self._numbers, self._factors)
        for places in (*first, *often, *rest):
            yield from places()

    # --- kinds of changes -------------------------------------------------------------------

    def _exchanged_indices(self) -> Iterator[Change]:
        for each in self._all(ast.Subscript):
            index = each.node.slice
            if isinstance(index, ast.Tuple) and len(index.elts) == 2:
                exchanged = ast.Tuple(index.elts[::-1], ast.Load())
                text = ast.unparse(each.node)
                says = say("the two indices of {text} are exchanged", text=f"`{text}`")
                hint = "Which index is the row, and which one the column?"
                path = (*each.path, ("slice", None))
                yield self._change(path, exchanged, each, "wrong-index", says, hint, "indices")

    def _brackets(self) -> Iterator[Change]:
        """`a + b % c` for `(a + b) % c`, and the other way round."""
        for each in self._all(ast.BinOp):
            node = each.node
            for inner, turned, kind in (
                (node.left, _right_first, "brackets"),
                (node.right, _left_first, "precedence"),
            ):
                if isinstance(inner, ast.BinOp):
                    first = f"`{ast.unparse(inner)}`"
                    says = say("Python works out {first} first", first=first)
                    yield self._change(
                        each.path, turned(node), each, "wrong-formula", says, BRACKETS, kind
                    )

    def _comparisons(self) -> Iterator[Change]:
        for each in self._all(ast.Compare):
            sister = SISTERS.get(type(each.node.ops[0]))
            if sister and len(each.node.ops) == 1:
                other = ast.Compare(each.node.left, [sister()], each.node.comparators)
                text = ast.unparse(each.node)
                says = say("{test} is off by one", test=f"`{text}`")
                hint = say("Is {test} to be true where both are equal?", test=f"`{text}`")
                code = "wrong-bounds-check"
                yield self._change(each.path, other, each, code, says, hint, "comparison")
        tests = [each for each in self._all(ast.Compare) if len(each.node.ops) == 1]
        for old, new in SISTERS.items():
            alike = [each for each in tests if type(each.node.ops[0]) is old]
            if len(alike) > 1:
                tree = copy.deepcopy(self.tree)
                for each in alike:
                    _at(tree, each.path).ops = [new()]
                text = f"`{ast.unparse(alike[0].node)}`"
                says = say("{test} is off by one, and so are the other tests", test=text)
                hint = say("Is {test} to be true where both are equal?", test=text)
                line = alike[0].node.lineno
                yield Change(tree, line, "wrong-bounds-check", says, hint, "comparison")

    def _moved(self) -> Iterator[Change]:
        """The statement after a loop moved into it, and a loop's last statement out of it."""
        for each in self.places:
            body = getattr(each.node, "body", None)
            for number, (loop, after) in enumerate(pairwise(body if type(body) is list else [])):
                is_theirs = not self._is_given(after) and not isinstance(after, ast.Return)
                if isinstance(loop, (ast.For, ast.While)) and is_theirs:
                    tree = copy.deepcopy(self.tree)
                    block = _at(tree, each.path).body
                    block[number].body.append(block.pop(number + 1))
                    says = "this stands behind the loop, and so it runs only once, after it"
                    hint = "How often should it run, and how far is it indented?"
                    yield Change(tree, after.lineno, "wrong-formula", says, hint, "indentation")
            for number, loop in enumerate(body if type(body) is list else []):
                if isinstance(loop, (ast.For, ast.While)) and isinstance(loop.body[-1], ast.Return):
                    tree = copy.deepcopy(self.tree)
                    block = _at(tree, each.path).body
                    block.insert(number + 1, block[number].body.pop())
                    if not block[number].body:
                        continue
                    says = "this return stands in the loop, and ends the function in its first turn"
                    hint = "When is everything counted: how far should the return be indented?"
                    line = loop.body[-1].lineno
                    yield Change(tree, line, "wrong-formula", says, hint, "indentation")

    def _calls(self) -> Iterator[Change]:
        for each in self._all(ast.Call):
            name = each.node.func
            called = name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")
            text = f"`{ast.unparse(each.node)}`"
            if called in ("round", "int") and each.node.args:
                says = say("{text} rounds, and nobody asked for that", text=text)
                hint = "What is lost when this is rounded?"
                argument = each.node.args[0]
                yield self._change(
                    each.path, argument, each, "wrong-formula", says, hint, "rounding"
                )
            if called in OTHER_CALLS and called in ("min", "max"):
                other = ast.Call(ast.Name(OTHER_CALLS[called], ast.Load()), each.node.args, [])
                says = say("{name} is the wrong choice in {text}", name=f"`{called}`", text=text)
                hint = say("What does {name} pick out of several numbers?", name=f"`{called}`")
                yield self._change(each.path, other, each, "wrong-formula", says, hint, "call")

    def _operators(self) -> Iterator[Change]:
        for each in self._all(ast.BinOp):
            node = each.node
            for operator in ARITHMETIC if not self.is_kernel else ():
                if isinstance(node.op, operator):
                    continue
                other = ast.BinOp(node.left, operator(), node.right)
                says, hint = _about_operator(node, operator)
                yield self._change(each.path, other, each, "wrong-formula", says, hint, "operator")
            if isinstance(node.op, ast.FloorDiv):
                up = ast.UnaryOp(ast.USub(), node.left)
                other = ast.UnaryOp(ast.USub(), ast.BinOp(up, ast.FloorDiv(), node.right))
                says = say("{text} rounds down", text=f"`{ast.unparse(node)}`")
                hint = "In which direction should it be rounded?"
                yield self._change(each.path, other, each, "wrong-formula", says, hint, "rounding")

    def _names_of_a_sort(self) -> Iterator[Change]:
        values = self.names[-1] if self.is_kernel else set()
        sums = (each for each in ast.walk(self.tree) if isinstance(each, ast.AugAssign))
        added = {id(node) for each in sums for node in ast.walk(each)}
        names = sorted(
            self._all(ast.Name),
            key=lambda each: (each.node.id not in values, id(each.node) not in added),
        )
        for each in names:
            name = each.node.id
            mine = next((sort for sort in self.names if name in sort), ())
            for other in mine if isinstance(each.node.ctx, ast.Load) else ():
                if other == name or self._is_called(each):
                    continue
                says, hint = self._about(each)
                new = ast.Name(other, ast.Load())
                code = "wrong-index" if self.is_kernel else "wrong-formula"
                yield self._change(each.path, new, each, code, says, hint, "name")

    def _all_exchanged(self) -> Iterator[Change]:
        """Two indices exchanged in a whole loop."""
        loops = [each for each in self.places if isinstance(each.node, ast.For)]
        outer = [each for each in loops if not any(_holds(other, each) for other in loops)]
        for each in outer if self.is_kernel else ():
            used = {node.id for node in ast.walk(each.node) if isinstance(node, ast.Name)}
            for one, two in self.pairs:
                if {one, two} <= used:
                    tree = copy.deepcopy(self.tree)
                    turned = {one: two, two: one}
                    first = 0
                    for node in ast.walk(_at(tree, each.path)):
                        if isinstance(node, ast.Name) and node.id in turned:
                            first = min(first or node.lineno, node.lineno)
                            node.id = turned[node.id]
                    says = say("{one} and {two} have changed places in this loop", one=one, two=two)
                    hint = say("Which of {one} and {two} chooses a row?", one=one, two=two)
                    yield Change(tree, first, "wrong-index", says, hint, "exchange")

    def _numbers(self) -> Iterator[Change]:
        for each in self._all(ast.Constant):
            value = each.node.value
            if type(value) is not int:
                continue
            says, hint = self._about(each)
            code = self._code_of_number(each)
            for other in dict.fromkeys((value + 1, value - 1, *self.numbers, *self._leaves())):
                if other == value or (type(other) is int and other < 0):
                    continue
                new = ast.Constant(other) if type(other) is int else ast.Name(other, ast.Load())
                yield self._change(each.path, new, each, code, says, hint, "number")

    def _twice_the_number(self) -> Iterator[Change]:
        """One number that stands several times in a branch, all of them changed."""
        for each in self._all(ast.If):
            values = [node.value for node in ast.walk(each.node) if _is_whole(node)]
            for value in dict.fromkeys(each for each in values if values.count(each) > 1):
                for other in (value - 1, value + 1):
                    tree = copy.deepcopy(self.tree)
                    for node in ast.walk(_at(tree, each.path)):
                        if _is_whole(node) and node.value == value:
                            node.value = other
                    test = _quoted(each.node.test)
                    says = say("{n} is the wrong number in {test} and below", n=value, test=test)
                    hint = say("What should stand where {n} stands?", n=value)
                    line = each.node.lineno
                    yield Change(tree, line, "wrong-formula", says, hint, "number")

    def _kept(self) -> Iterator[Change]:
        """A variable that a branch sets, and that should be 0 where the branch is not taken."""
        for each in self._all(ast.If):
            first = each.node.body[0]
            is_set = isinstance(first, ast.Assign) and isinstance(first.targets[0], ast.Name)
            if each.node.orelse or not is_set:
                continue
            tree = copy.deepcopy(self.tree)
            branch = _at(tree, each.path)
            branch.orelse = [ast.Assign(first.targets, ast.Constant(0), lineno=first.lineno)]
            ast.fix_missing_locations(tree)
            name, test = first.targets[0].id, _quoted(each.node.test)
            says = say("where {test} is false, {name} keeps its old number", test=test, name=name)
            hint = say("What is in {name} when this branch is not taken?", name=name)
            yield Change(tree, each.node.lineno, "wrong-formula", says, hint, "branch")

    def _dropped(self) -> Iterator[Change]:
        """`a` for `a + b`; and all that look alike, as `2 * x` and `2 * y`."""
        alike: dict[str, list[tuple[_Place, ast.expr]]] = {}
        for each in self._all(ast.BinOp):
            node = each.node
            symbol = _symbol(node.op)
            right = f"`{symbol} {ast.unparse(node.right)}`"
            pairs = [(node.left, right)]
            if isinstance(node.op, (ast.Add, ast.Mult)):
                pairs.append((node.right, f"`{ast.unparse(node.left)} {symbol}`"))
            for kept, gone in pairs:
                alike.setdefault(gone, []).append((each, kept))
                says = say("{gone} in {text} is too much", gone=gone, text=_quoted(node))
                hint = say("What is {gone} there for?", gone=gone)
                yield self._change(each.path, kept, each, "wrong-formula", says, hint, "surplus")
        for gone, several in alike.items():
            if len(several) < 2:
                continue
            tree = copy.deepcopy(self.tree)
            for each, kept in reversed(several):
                _put(tree, each.path, copy.deepcopy(kept))
            says = say("{gone} is too much, here and further on", gone=gone)
            hint = say("Has {gone} been done before?", gone=gone)
            line = several[0][0].node.lineno
            yield Change(tree, line, "wrong-index", says, hint, "surplus")

    def _factors(self) -> Iterator[Change]:
        for each in (*self._all(ast.BinOp), *self._all(ast.Name)):
            if isinstance(each.node, ast.Name) and (
                not isinstance(each.node.ctx, ast.Load) or not self._is_number(each)
            ):
                continue
            for number in self.numbers:
                operator = ast.Add() if self.is_kernel else ast.Mult()
                more = ast.BinOp(each.node, operator, ast.Constant(number))
                text = _quoted(each.node)
                says = say("{text} is {n} times too small", text=text, n=number)
                hint = say("What does {text} count, and what should it count?", text=text)
                if self.is_kernel:
                    says, hint = self._about(each)
                yield self._change(each.path, more, each, "wrong-formula", says, hint, "factor")

    # --- help -------------------------------------------------------------------------------

    def _all(self, kind: type) -> Iterator[_Place]:
        return (each for each in self.places if isinstance(each.node, kind))

    def _change(
        self, path: Path, new: ast.expr, place: _Place, code: str, says: str, hint: str, kind: str
    ) -> Change:
        tree = copy.deepcopy(self.tree)
        _put(tree, path, copy.deepcopy(new))
        line = getattr(place.node, "lineno", self.tree.lineno)
        return Change(tree, line, code, says, hint, kind)

    def _about(self, each: _Place) -> tuple[str, str]:
        """Words for a name or number that should be another one."""
        leaf = _quoted(each.node)
        around = self._around(each)
        says = say(
            "another number belongs in the place of {leaf} in {around}", leaf=leaf, around=around
        )
        if isinstance(each.node, ast.Name):
            says = say("{leaf} is the wrong one in {around}", leaf=leaf, around=around)
        return says, say("What should stand where {leaf} stands?", leaf=leaf)

    def _around(self, each: _Place) -> str:
        """The smallest part that says where a leaf stands, as it is written."""
        for length in range(len(each.path) - 1, 0, -1):
            node = _at(self.tree, each.path[:length])
            if isinstance(node, (ast.BinOp, ast.Subscript, ast.Compare, ast.Call)):
                return _quoted(node)
        return _quoted(each.node)

    def _code_of_number(self, each: _Place) -> str:
        for length in range(len(each.path) - 1, 0, -1):
            node = _at(self.tree, each.path[:length])
            of_a_loop = each.path[length - 1][0] == "test" and length > 1
            if isinstance(node, ast.Compare) and not (
                of_a_loop and isinstance(_at(self.tree, each.path[: length - 1]), ast.While)
            ):
                return "wrong-bounds-check"
            if isinstance(node, (ast.For, ast.While)):
                inside = each.path[length][0] in ("iter", "test")
                return "wrong-loop-bound" if inside else "wrong-formula"
        return "wrong-formula"

    def _leaves(self) -> tuple[str, ...]:
        return () if self.is_kernel else tuple(sorted({*self.names[0]} if self.names else ()))

    def _is_number(self, each: _Place) -> bool:
        return any(each.node.id in sort for sort in self.names[:1]) and not self._is_called(each)

    def _is_called(self, each: _Place) -> bool:
        """Is it the name of a function that is called, or of a module?"""
        return each.path[-1][0] == "func" or (each.path[-1][0] == "value" and not self.is_kernel)

    def _is_given(self, node: ast.AST) -> bool:
        return getattr(node, "lineno", 0) in self.given

    def _names(self) -> list[set[str]]:
        """The function's own names by sort: of a kernel indices, arrays and other numbers."""
        set_here = {each.arg for each in self.tree.args.args}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                set_here.add(node.id)
        if not self.is_kernel:
            return [set_here]
        arrays, indices = set(), set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Subscript):
                if isinstance(node.value, ast.Name):
                    arrays.add(node.value.id)
                used = {part.id for part in ast.walk(node.slice) if isinstance(part, ast.Name)}
                indices |= used
        arrays -= {each for each in arrays if each not in set_here}
        return [indices & set_here, set_here - indices - arrays]


def _about_operator(node: ast.BinOp, wanted: type[ast.operator]) -> tuple[str, str]:
    """Words for an operator that should be another one."""
    if isinstance(node.op, ast.FloorDiv) and wanted is ast.Div:
        return say("`//` drops the fraction"), "What does / do, and // not?"
    if isinstance(node.op, ast.Div) and wanted is ast.FloorDiv:
        return say("`/` keeps a fraction here"), "What does // do, and / not?"
    text = _quoted(node)
    says = say("the {op} in {text} is the wrong operation", op=f"`{_symbol(node.op)}`", text=text)
    left, right = _quoted(node.left), _quoted(node.right)
    return says, say("What should be done with {left} and {right}?", left=left, right=right)


def _holds(one: _Place, other: _Place) -> bool:
    """Does a node lie within another one?"""
    return len(one.path) < len(other.path) and other.path[: len(one.path)] == one.path


def _is_whole(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _symbol(operator: ast.operator) -> str:
    return ast.unparse(ast.BinOp(ast.Name("a"), operator, ast.Name("b")))[2:-2]


def _quoted(node: ast.AST) -> str:
    return f"`{ast.unparse(node)}`"


def _right_first(node: ast.BinOp) -> ast.expr:
    """(a + b) % c as a + (b % c)."""
    inner = node.left
    assert isinstance(inner, ast.BinOp)
    return ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))


def _left_first(node: ast.BinOp) -> ast.expr:
    """a + (b % c) as (a + b) % c."""
    inner = node.right
    assert isinstance(inner, ast.BinOp)
    return ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)


def _places(node: ast.AST, path: Path = ()) -> Iterator[_Place]:
    """All nodes of a function with the ways to them, in the order of the text."""
    yield _Place(node, path)
    for name, value in ast.iter_fields(node):
        if name == "decorator_list":
            continue
        if isinstance(value, list):
            for number, each in enumerate(value):
                if isinstance(each, ast.AST):
                    yield from _places(each, (*path, (name, number)))
        elif isinstance(value, ast.AST):
            yield from _places(value, (*path, (name, None)))


def _at(tree: ast.AST, path: Path):
    for name, number in path:
        value = getattr(tree, name)
        tree = value if number is None else value[number]
    return tree


def _put(tree: ast.AST, path: Path, new: ast.expr) -> None:
    """Replace what lies there; the new part has the line of the old one."""
    old = _at(tree, path)
    for node in ast.walk(new):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            setattr(node, name, getattr(node, name, getattr(old, name, 1)))
    owner = _at(tree, path[:-1])
    name, number = path[-1]
    if number is None:
        setattr(owner, name, new)
    else:
        getattr(owner, name)[number] = new
