"""Follows, in the library's own source, which sentence can be said with which code.

A sentence and its code are often two variables that the branches of a function set. What is
followed are assignments, branches, rows of tables, and functions of the same module; a pair is
told where both can hold at once. Nothing of the library is run.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from library_trees import nodes_of, tree_of

from course_lib.wording.findings import CODES

SPEAKING = ("answer_text", "emulator", "tiles", "diagnosis", "host", "checking.py")
DEEPEST = 6  # names and functions that are followed from one sentence
ANY = "any"  # what a finding of whichever code is told besides

_FACT = re.compile(r"\{\w+\}")  # alone, it has no words of its own
RACES = tuple(code for code in CODES if code.startswith("race-"))

Holds = Mapping[str, object]  # what has to hold for a value: by test, table or call
Value = tuple[str, Holds]
Setting = ast.Assign | ast.AnnAssign | ast.For | ast.GeneratorExp | ast.ListComp


@dataclass(frozen=True)
class CallPattern:
    """Where a call has its code and its sentence: by place or name; or the code that it stands for.

    Attributes:
        code, message, hint: the place of each among the arguments; -1 where it has none.
        usual: the code where none is given.
        around: what the sentence is put into.
    """

    code: int
    message: int
    hint: int = -1
    usual: str = ""
    around: str = "{said}"
    named: str = "message"


CALLS = {
    "finding": CallPattern(0, 1, 3),
    "finding_of": CallPattern(0, 1, 3),
    "tell": CallPattern(1, 2, 4),
    "Finding": CallPattern(0, 2, 4),
    "rejection": CallPattern(0, 1, 3),
    "Wording": CallPattern(0, 1, 2, usual=ANY),
    "Hypothesis": CallPattern(1, 2, 3),
    "replace": CallPattern(-1, -1, usual=ANY),
    "Stop": CallPattern(0, 1),
    "stopped": CallPattern(3, 1, 2, usual="wrong-formula"),
    "Unusable": CallPattern(1, 0, 2, usual="unsupported", named="reason"),
    "refuse": CallPattern(1, 0, usual="compile-error"),
    "need": CallPattern(-1, 1, usual="compile-error", around="{{name}} {said}."),
    "TypingError": CallPattern(-1, 0, usual="compile-error", around="{{name}} {said}."),
    "supported": CallPattern(-1, 1, 2, usual="unsupported", around="{{name}} {said}."),
    "NotEmulated": CallPattern(-1, 0, 1, usual="unsupported", around="{{name}} {said}."),
    "NotConstant": CallPattern(-1, 0, usual="unsupported",
        around="{{name}} is not a constant: {said}."),
}  # fmt: skip


def templates(package: Path) -> dict[str, tuple[list[str], list[str]]]:
    """By code, and by ANY: everything that can be said with it, and every hint; sorted.

    Args:
        package: the folder of course_lib.
    """
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for name in SPEAKING:
        place = package / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for code, said, is_hint in followed(path).pairs():
                found[code][is_hint].add(said)
    return {code: (sorted(said), sorted(hints)) for code, (said, hints) in found.items()}


class Followed:
    """One module, and what its names and branches lead to."""

    def __init__(self, path: Path) -> None:
        self.tree, self.nodes = tree_of(path), nodes_of(path)
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self.functions = {
            node.name: node for node in self.nodes if isinstance(node, ast.FunctionDef)
        }

    def pairs(self) -> Iterator[tuple[str, str, bool]]:
        """Each code with each sentence that can stand beside it; and whether that is a hint."""
        for node in self.nodes:
            if not isinstance(node, ast.Call):
                continue
            call = CALLS.get(_name(node.func))
            if call is None or getattr(self.function_around(node), "name", "") in CALLS:
                continue
            here = self._holds(node)
            codes = self._codes(node, call)
            for place, name, is_hint in (
                (call.message, call.named, False),
                (call.hint, "hint", True),
            ):
                written = _argument(node, place, name)
                for said, holds in self._values(written, 0) if written else ():
                    if not said or _FACT.fullmatch(said) or not _agree(here, holds):
                        continue
                    text = said if is_hint else call.around.format(said=said)
                    for code, also in codes:
                        if _agree(here, also) and _agree(holds, also):
                            yield code, text, is_hint

    def values(self, node: ast.expr) -> list[Value]:
        """The texts that an expression can be, and what holds then."""
        return self._values(node, 0)

    def _codes(self, node: ast.Call, call: CallPattern) -> list[Value]:
        written = _argument(node, call.code, "code")
        if written is None:
            return [(call.usual, {})]
        if ast.unparse(written) == "race.code":
            return [(race, {_asks_for(each): each == race for each in RACES}) for race in RACES]
        values = [each for each in self._values(written, 0) if each[0] in CODES or not each[0]]
        return [(code or call.usual, holds) for code, holds in values] or [(ANY, {})]

    def _values(self, node: ast.AST | None, depth: int) -> list[Value]:
        """The texts that an expression can be, and what holds then."""
        if depth > DEEPEST:
            return []
        match node:
            case ast.Constant(value=str(text)):
                return [(text, {})]
            case ast.Call(func=ast.Name(id="say" | "with_values"), args=[template, *_]):
                return self._values(template, depth + 1)
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return self._returned(self.functions[name], None, depth)
            case ast.IfExp(test=test, body=body, orelse=other):
                return [
                    (text, {**holds, **_test(test, is_true)})
                    for part, is_true in ((body, True), (other, False))
                    for text, holds in self._values(part, depth)
                ]
            case ast.BoolOp(values=parts):
                return [each for part in parts for each in self._values(part, depth)]
            case ast.BinOp(op=ast.Mult(), left=left):
                return self._values(left, depth)
            case ast.Subscript(value=ast.Dict(values=parts)):
                return [each for part in parts for each in self._values(part, depth)]
            case ast.Attribute():
                return []
            case ast.Name():
                return self._of_name(node, depth + 1)
        return []

    def _of_name(self, use: ast.Name, depth: int) -> list[Value]:
        """What a variable can be where it is used: since it was last set in any case."""
        scope = self.function_around(use)
        sets = [
            (node, found)
            for node in ast.walk(scope)
            if isinstance(node, (ast.Assign, ast.For, ast.GeneratorExp, ast.ListComp))
            and self._before(node, use)
            and (found := self._set_by(node, use.id, depth)) is not None
        ]
        sets.sort(key=lambda each: each[0].lineno)
        last = max((n for n, (node, _) in enumerate(sets) if self._surely(node, use)), default=0)
        found = [value for _, values in sets[last:] for value in values]
        if not sets and scope is not self.tree:
            for node in self.tree.body:
                if isinstance(node, (ast.Assign, ast.AnnAssign)):
                    found += self._set_by(node, use.id, depth) or []
        return found

    def _set_by(self, node: Setting, name: str, depth: int) -> list[Value] | None:
        """What a statement makes of a variable; None where it does not touch it."""
        targets: Sequence[ast.expr]
        give: Callable[[ast.expr], list[Value]]
        if isinstance(node, ast.For):
            targets, give = [node.target], lambda _: self._of_rows(name, node, depth)
        elif isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            loop = node.generators[0]
            targets, give = [loop.target], lambda _: self._of_rows(name, loop, depth)
        else:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            give = lambda target: self._assigned(name, target, node.value, depth)  # noqa: E731
        touched = [
            target
            for target in targets
            if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(target))
        ]
        if not touched:
            return None
        here = self._holds(node)
        return [(text, {**here, **holds}) for each in touched for text, holds in give(each)]

    def _before(self, node: Setting, use: ast.Name) -> bool:
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return node in self._above(use)
        return node.lineno < use.lineno

    def _surely(self, node: ast.AST, use: ast.AST) -> bool:
        """Does a statement before a use run whenever the use does?"""
        above = self._above(use)
        if isinstance(node, (ast.For, ast.GeneratorExp, ast.ListComp)):
            return node in above
        return any(
            isinstance(block, list) and node in block and any(each in block for each in above)
            for _, block in ast.iter_fields(self.parents[node])
        )

    def _above(self, node: ast.AST) -> list[ast.AST]:
        found = [node]
        while found[-1] in self.parents:
            found.append(self.parents[found[-1]])
        return found

    def _assigned(
        self, name: str, target: ast.expr, value: ast.AST | None, depth: int
    ) -> list[Value]:
        if isinstance(target, ast.Name) and target.id == name:
            return self._values(value, depth)
        if not isinstance(target, ast.Tuple):
            return []
        for place, each in enumerate(target.elts):
            if isinstance(each, ast.Name) and each.id == name:
                return self._element(value, place, depth)
        return []

    def _element(self, value: ast.AST | None, place: int, depth: int) -> list[Value]:
        """What stands at one place of a tuple."""
        match value:
            case ast.Tuple(elts=elements):
                return self._values(elements[place], depth) if place < len(elements) else []
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return self._returned(self.functions[name], place, depth)
            case ast.IfExp(test=test, body=body, orelse=other):
                return [
                    (text, {**holds, **_test(test, is_true)})
                    for part, is_true in ((body, True), (other, False))
                    for text, holds in self._element(part, place, depth)
                ]
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[_, otherwise]):
                rows = self._rows(owner)
                return [
                    (text, {**holds, ast.dump(value): number})
                    for number, row in enumerate([*rows, otherwise])
                    for text, holds in self._element(row, place, depth)
                ]
        return []

    def _rows(self, owner: ast.AST) -> Sequence[ast.AST]:
        """The values of a table of the module."""
        if not isinstance(owner, ast.Name):
            return []
        for node in self.tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id == owner.id:
                return node.value.values if isinstance(node.value, ast.Dict) else []
        return []

    def _returned(self, function: ast.FunctionDef, place: int | None, depth: int) -> list[Value]:
        """What a function gives; at one place of its tuple, or as a whole."""
        found: list[Value] = []
        for node in ast.walk(function):
            if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
                if place is None:
                    values = self._values(node.value, depth + 1)
                else:
                    values = self._element(node.value, place, depth + 1)
                found += [
                    (text, {**self._holds(node), **holds, function.name: node.lineno})
                    for text, holds in values
                ]
        return found

    def _of_rows(self, name: str, loop: ast.For | ast.comprehension, depth: int) -> list[Value]:
        """A variable of a loop over a table that is written out, or over what a function gives."""
        found: list[Value] = []
        if isinstance(loop.iter, (ast.Tuple, ast.List)):
            for number, row in enumerate(loop.iter.elts):
                for text, holds in self._assigned(name, loop.target, row, depth):
                    found.append((text, {**holds, f"row of {ast.dump(loop.target)}": number}))
        elif isinstance(loop.iter, ast.Call):
            found += self._assigned(name, loop.target, loop.iter, depth)
        elif isinstance(loop.iter, ast.Name):
            for node in ast.walk(self.function_around(loop)):
                if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Tuple, ast.List)):
                    if loop.iter.id in {getattr(each, "id", "") for each in node.targets}:
                        rows = ast.For(loop.target, node.value, [], [])
                        found += self._of_rows(name, rows, depth)
        return found

    def _holds(self, node: ast.AST) -> dict[str, object]:
        """The tests that must hold, or must not, where a node stands."""
        holds: dict[str, object] = {}
        while node in self.parents and not isinstance(node, ast.FunctionDef):
            above = self.parents[node]
            if isinstance(above, (ast.If, ast.IfExp)) and node is not above.test:
                body = above.body if isinstance(above.body, list) else [above.body]
                holds |= _test(above.test, node in body)
            elif isinstance(above, ast.Match):
                holds[f"case of {above.lineno}"] = above.cases.index(node)  # type: ignore[arg-type]
            node = above
        return holds

    def function_around(self, node: ast.AST) -> ast.AST:
        """The function that a node belongs to, or the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return self.tree


@cache
def followed(path: Path) -> Followed:
    return Followed(path)


def _name(function: ast.expr) -> str:
    return getattr(function, "id", "") or getattr(function, "attr", "")


def _argument(node: ast.Call, place: int, name: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    return node.args[place] if 0 <= place < len(node.args) else None


def _test(test: ast.expr, is_true: bool) -> dict[str, object]:
    """A test as something that holds or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _test(test.operand, not is_true)
    return {ast.dump(test): is_true}


def _asks_for(race: str) -> str:
    """The test of a race's code, as `_test` has it."""
    return ast.dump(ast.parse(f"race.code == {race!r}", mode="eval").body)


def _agree(one: Holds, other: Holds) -> bool:
    return all(other.get(key, value) == value for key, value in one.items())
