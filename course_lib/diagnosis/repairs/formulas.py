"""Small changes to a formula: its brackets, operators, comparisons, calls, and what is too much."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.diagnosis.repairs.change import (
    Change,
    EditSite,
    Original,
    quoted,
    symbol,
)
from course_lib.diagnosis.source.tree import node_at, replace_node
from course_lib.sentences import Sentence, say

ARITHMETIC = (ast.Mult, ast.Add, ast.FloorDiv, ast.Div, ast.Mod, ast.Sub)
SUMS, SHIFTS = (ast.Add, ast.Sub), (ast.LShift, ast.RShift)
PRODUCTS = (ast.Mult, ast.Div, ast.FloorDiv)
SISTERS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITES = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
BRACKETS = "Where do brackets belong?"
UNITS = "In what units are the arguments, and in what unit is the result?"


def brackets(function: Original) -> Iterator[Change]:
    """`a + b % c` for `(a + b) % c`, and the other way round."""
    for each in function.all(ast.BinOp):
        for first, turned, kind in (*_less_on_the_left(each.node), *_more_on_the_left(each.node)):
            says = say(
                "in {whole}, Python works out {first} first",
                whole=quoted(each.node),
                first=quoted(first),
            )
            yield function.with_node(each, turned, "wrong-formula", says, BRACKETS, kind)


def _less_on_the_left(node: ast.BinOp) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """a * b + c as a * (b + c), and a * b * c + d as a * b * (c + d) and as a * (b * c + d)."""
    spine: list[ast.BinOp] = []  # what is worked out before, the last operation first
    left = node.left
    while isinstance(left, ast.BinOp):
        part = left.right
        for each in reversed(spine):
            part = ast.BinOp(part, each.op, each.right)
        group = ast.BinOp(part, node.op, node.right)
        yield node.left, ast.BinOp(left.left, left.op, group), "brackets"
        spine.append(left)
        left = left.left


def _more_on_the_left(node: ast.BinOp) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """a + b % c as (a + b) % c."""
    inner = node.right
    if isinstance(inner, ast.BinOp):
        group = ast.BinOp(node.left, node.op, inner.left)
        yield inner, ast.BinOp(group, inner.op, inner.right), "precedence"


def shifts(function: Original) -> Iterator[Change]:
    """`a + (b << 16)` for `a + b << 16`, at every shift of a sum at once."""
    inner: set[ast.AST] = set()
    for each in function.all(ast.BinOp):
        node = each.node
        if node in inner:
            continue
        inner |= set(ast.walk(node))
        terms, signs = _terms(node)
        sums = [sign for sign in signs if isinstance(sign, SUMS)]
        if not sums or len(sums) == len(signs):
            continue
        says = say(
            "in {whole}, Python works out each {sign} before the shifts",
            whole=quoted(node),
            sign=f"`{symbol(sums[0])}`",
        )
        turned = _shifts_first(terms, signs)
        yield function.with_node(each, turned, "wrong-formula", says, BRACKETS, "precedence")


def _terms(node: ast.expr) -> tuple[list[ast.expr], list[ast.operator]]:
    """What sums and shifts join, from left to right, and the operators between."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (*SHIFTS, *SUMS)):
        return [node], []
    (left, before), (right, after) = _terms(node.left), _terms(node.right)
    return [*left, *right], [*before, node.op, *after]


def _shifts_first(terms: list[ast.expr], signs: list[ast.operator]) -> ast.expr:
    """The same terms and operators, where shifts bind more closely than sums."""
    parts, between = [terms[0]], []
    for sign, term in zip(signs, terms[1:], strict=True):
        if isinstance(sign, SHIFTS):
            parts[-1] = ast.BinOp(parts[-1], sign, term)
        else:
            parts.append(term)
            between.append(sign)
    whole = parts[0]
    for sign, part in zip(between, parts[1:], strict=True):
        whole = ast.BinOp(whole, sign, part)
    return whole


def turned_round(function: Original) -> Iterator[Change]:
    """`b - a` for `a - b`, and `b / a` for `a / b`."""
    for each in function.all(ast.BinOp):
        node = each.node
        if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv)):
            other = ast.BinOp(node.right, node.op, node.left)
            says = say("{text} stands the wrong way round", text=quoted(node))
            verb = "is taken from" if isinstance(node.op, ast.Sub) else "is divided by"
            hint = say("What {verb} what here?", verb=verb)
            yield function.with_node(each, other, "wrong-formula", says, hint, "turned")


def comparisons(function: Original) -> Iterator[Change]:
    """`a <= b` for `a < b`, in one test and in all that are alike."""
    tests = [each for each in function.all(ast.Compare) if len(each.node.ops) == 1]
    for each in tests:
        node = each.node
        if sister := SISTERS.get(type(node.ops[0])):
            other = ast.Compare(node.left, [sister()], node.comparators)
            says = say("{test} is off by one", test=quoted(node))
            hint = say("Is {test} to be true where both are equal?", test=quoted(node))
            yield function.with_node(each, other, "wrong-bounds-check", says, hint, "comparison")
    for alike in _alike(tests):
        new = SISTERS[type(alike[0].node.ops[0])]

        def all_turned(
            tree: ast.FunctionDef,
            alike: list[EditSite[ast.Compare]] = alike,
            new: type[ast.cmpop] = new,
        ) -> None:
            for each in alike:
                node_at(tree, each.path).ops = [new()]

        test = quoted(alike[0].node)
        says = say("{test} is off by one, and so are the other tests", test=test)
        if len({quoted(each.node) for each in alike}) == 1:
            says = say("{test} is off by one, in each place where it stands", test=test)
        hint = say("Is {test} to be true where both are equal?", test=test)
        yield function.with_edit(
            alike[0], all_turned, "wrong-bounds-check", says, hint, "comparison"
        )


def _alike(tests: list[EditSite[ast.Compare]]) -> Iterator[list[EditSite[ast.Compare]]]:
    """Several tests that may be off by one together: the same one twice, or the same operator."""
    groups: dict[object, list[EditSite[ast.Compare]]] = {}
    for each in tests:
        if type(each.node.ops[0]) in SISTERS:
            groups.setdefault(quoted(each.node), []).append(each)
    for each in tests:
        if type(each.node.ops[0]) in SISTERS:
            groups.setdefault(type(each.node.ops[0]), []).append(each)
    known: list[list[EditSite[ast.Compare]]] = []
    for group in groups.values():
        if len(group) > 1 and group not in known:
            known.append(group)
            yield group


def opposites(function: Original) -> Iterator[Change]:
    """`a < b` for `a > b`."""
    for each in function.all(ast.Compare):
        node = each.node
        if (turned := OPPOSITES.get(type(node.ops[0]))) and len(node.ops) == 1:
            other = ast.Compare(node.left, [turned()], node.comparators)
            says = say("{test} is true where it should be false", test=quoted(node))
            hint = say("For which calls should {test} be true?", test=quoted(node))
            yield function.with_node(each, other, "wrong-formula", says, hint, "opposite")


def calls(function: Original) -> Iterator[Change]:
    """`a` for `round(a)`, and `min` for `max`."""
    for each in function.all(ast.Call):
        node, name = each.node, each.node.func
        called = name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")
        text = quoted(node)
        if called in ("round", "int") and node.args:
            says = say("{text} rounds, and nobody asked for that", text=text)
            hint = "What is lost when this is rounded?"
            yield function.with_node(each, node.args[0], "wrong-formula", says, hint, "rounding")
        if called in ("min", "max"):
            other_name = ast.Name("max" if called == "min" else "min", ast.Load())
            other = ast.Call(other_name, node.args, [])
            says = say("{name} is the wrong choice in {text}", name=f"`{called}`", text=text)
            hint = "Which one counts, the smaller or the larger?"
            yield function.with_node(each, other, "wrong-formula", says, hint, "call")


def operators(function: Original) -> Iterator[Change]:
    """`a + b` for `a * b`, and `-(-a // b)` for `a // b`."""
    for each in function.all(ast.BinOp):
        node = each.node
        for operator in ARITHMETIC:
            if not isinstance(node.op, operator):
                other = ast.BinOp(node.left, operator(), node.right)
                says, hint = _about_operator(node, operator)
                yield function.with_node(each, other, "wrong-formula", says, hint, "operator")
        if isinstance(node.op, ast.FloorDiv):
            up = ast.UnaryOp(ast.USub(), node.left)
            upwards = ast.UnaryOp(ast.USub(), ast.BinOp(up, ast.FloorDiv(), node.right))
            says = say("{text} rounds down", text=quoted(node))
            hint = "In which direction should it be rounded?"
            yield function.with_node(each, upwards, "wrong-formula", says, hint, "rounding")


def _about_operator(node: ast.BinOp, wanted: type[ast.operator]) -> tuple[Sentence, Sentence | str]:
    """Words for an operator that should be another one."""
    text = quoted(node)
    if isinstance(node.op, ast.FloorDiv) and wanted is ast.Div:
        says = say("`//` rounds {text} down to a whole number", text=text)
        return says, "What does // do, and / not?"
    if isinstance(node.op, ast.Div) and wanted is ast.FloorDiv:
        return say("`/` keeps a fraction in {text}", text=text), "What does // do, and / not?"
    says = say("the {op} in {text} is the wrong operation", op=f"`{symbol(node.op)}`", text=text)
    left, right = quoted(node.left), quoted(node.right)
    return says, say("What should be done with {left} and {right}?", left=left, right=right)


def surplus(function: Original) -> Iterator[Change]:
    """`a` for `a + b`; and all that look alike, as `2 * x` and `2 * y`."""
    alike: dict[str, list[tuple[EditSite[ast.BinOp], ast.expr]]] = {}
    for each in function.all(ast.BinOp):
        node = each.node
        sign = symbol(node.op)
        pairs = [(node.left, f"`{sign} {ast.unparse(node.right)}`")]
        if isinstance(node.op, (ast.Add, ast.Mult)):
            pairs.append((node.right, f"`{ast.unparse(node.left)} {sign}`"))
        for kept, gone in pairs:
            alike.setdefault(gone, []).append((each, kept))
            says = say("{gone} in {text} is too much", gone=gone, text=quoted(node))
            hint: str = say("What is {gone} there for?", gone=gone)
            other = node.right if kept is node.left else node.left
            if isinstance(node.op, PRODUCTS) and isinstance(other, ast.Constant):
                hint = UNITS
            yield function.with_node(each, kept, "wrong-formula", says, hint, "surplus")
    for gone, several in alike.items():
        if len(several) > 1:

            def all_gone(
                tree: ast.FunctionDef,
                several: list[tuple[EditSite[ast.BinOp], ast.expr]] = several,
            ) -> None:
                for each, kept in reversed(several):
                    replace_node(tree, each.path, kept)

            says = say("{gone} is too much, here and further on", gone=gone)
            hint = say("Has {gone} been done before?", gone=gone)
            first, _ = several[0]
            yield function.with_edit(first, all_gone, "wrong-index", says, hint, "surplus")


def factors(function: Original) -> Iterator[Change]:
    """`4 * a` for `a`."""
    names = (each for each in function.all(ast.Name) if _is_number(function, each))
    places: list[EditSite[ast.BinOp] | EditSite[ast.Name]] = [*function.all(ast.BinOp), *names]
    for each in places:
        for number in function.numbers:
            more = ast.BinOp(each.node, ast.Mult(), ast.Constant(number))
            text = quoted(each.node)
            says = say("{text} is {n} times too small", text=text, n=number)
            hint = say("What does {text} count, and what should it count?", text=text)
            yield function.with_node(each, more, "wrong-formula", says, hint, "factor")


def divisions(function: Original) -> Iterator[Change]:
    """`a // 4` for `a`."""
    for each in function.all(ast.Name):
        if not _is_number(function, each):
            continue
        for number in function.numbers:
            text = quoted(each.node)
            less = ast.BinOp(each.node, ast.FloorDiv(), ast.Constant(number))
            says = say("{text} is {n} times too large", text=text, n=number)
            hint = say("What does {text} count, and what should it count?", text=text)
            yield function.with_node(each, less, "wrong-formula", says, hint, "factor")


def _is_number(function: Original, place: EditSite[ast.Name]) -> bool:
    is_read = isinstance(place.node.ctx, ast.Load)
    return is_read and place.node.id in function.own_names and not function.is_called(place)
