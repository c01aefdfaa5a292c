"""The changes for which tile kernels give reason: what is past an edge, axes, types, functions."""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product

from course_lib.diagnosis.repair.edit import Edit, StatementEdit
from course_lib.diagnosis.repair.ingredients import Ingredients, expression, named
from course_lib.diagnosis.repair.statements import whole_names_exchanged
from course_lib.diagnosis.source.tree import (
    Path,
    copy_of,
    last_name,
    names_bound,
    names_read,
    node_at,
)
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing

# What stands in the place of an element past the edge, by the keyword of each language.
PADDING = {
    "padding_mode": ("PaddingMode.ZERO", "PaddingMode.NEG_INF"),
    "other": ("0.0", "float('-inf')"),
}
INSTEAD = {
    "max": ("sum", "min"), "sum": ("max",), "min": ("max",), "maximum": ("minimum",),
    "minimum": ("maximum",), "exp2": ("exp",), "exp": ("exp2",), "log2": ("log",),
    "atomic_add": ("store",), "ones": ("zeros",),
}  # fmt: skip
REDUCTIONS = ("max", "min", "sum")
FLOATS = ("float32", "float16", "bfloat16")
TYPES = (*FLOATS, "float64", "int8", "int16", "int32")
PLACES = ("program_id", "bid")
SHAPES = ("", "[:, None]", "[None, :]")  # in which a tile of one axis meets one of two
SIGNS = (("tile factor", "*"), ("tile term", "+"), ("tile term", "-"), ("tile factor", "/"))
MOST_CONDITIONS = 48  # that are tried as a mask


class TileChanges(Ingredients):
    """One function of tile code, and the changes to it, in the order of its text.

    Args:
        typing, constants: as of any function.
        parameters: the arrays that it is given, and how many axes each has.
        has_masks: whether masks say what lies inside an array, as in Triton.
    """

    def __init__(
        self,
        typing: Typing,
        constants: Sequence[str],
        parameters: Mapping[str, int],
        has_masks: bool,
    ) -> None:
        super().__init__(typing, constants)
        self.arrays |= parameters
        self.has_masks = has_masks

    def __iter__(self) -> Iterator[Edit]:
        for node, path in self.nodes:
            if isinstance(node, ast.For):
                yield from self._counted(node, path)
            if isinstance(node, ast.Assign):
                yield from self._done_in_turns(node, path)
            if isinstance(node, ast.AugAssign):
                yield from self._rescaled(node, path)
            if path and isinstance(node, ast.expr) and self.is_read(node, path):
                yield from self._of(node, path)
        yield from self._programs_exchanged()

    def _of(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        match node:
            case ast.Call():
                yield from self._of_call(node, path)
            case ast.Attribute(attr=name) if name in TYPES:
                for other in FLOATS:
                    if other != name:
                        new = ast.Attribute(node.value, other, ast.Load())
                        yield self.value("type", 1, path, new)
            case ast.Name(id=name) if name in self.arrays:
                for other, axes in self.arrays.items():
                    if other != name and axes == self.arrays[name]:
                        yield self.value("array", 1, path, named(other))
            case ast.Tuple(elts=[one, two]) if path[-1][0] != "slice":
                new_values = {(*path, ("elts", 0)): two, (*path, ("elts", 1)): one}
                yield self.values("indices", 1, new_values, self.line(path))
        if T.is_float(self.kind_of(node)) and not isinstance(node, ast.Constant):
            yield from self._with_another(node, path)
        if self.has_masks and self.is_whole(node):
            yield from self._with_program(node, path)
            yield from self._strides(node, path)
        if self.has_masks and self.kind_of(node) == T.BOOL and not isinstance(node, ast.Name):
            yield from self._more_conditions(node, path)

    # --- calls ----------------------------------------------------------------------------------

    def _of_call(self, node: ast.Call, path: Path) -> Iterator[Edit]:
        name = last_name(node.func)
        if isinstance(node.func, ast.Attribute):
            for other in INSTEAD.get(name, ()):
                new = ast.Attribute(node.func.value, other, ast.Load())
                kind = "zero" if other == "zeros" else "function"
                yield self.value(kind, 1, (*path, ("func", None)), new)
        if name in ("load", "store"):
            yield from self._at_edges(node, path)
            yield from whole_names_exchanged(self, (*path, ("args", 0)), 2)
        for number in range(1, len(node.args) if name in ("full", "where") else 0):
            there: Path = (*path, ("args", number))
            for start in (0.0, -math.inf):
                if not isinstance(node.args[number], ast.Name | ast.BinOp):
                    yield self.value("zero", 2, there, ast.Constant(start))
        if name in ("mma", "dot") and len(node.args) == 2 and not node.keywords:
            for total in self.real:
                if total in self.known_at(path):
                    more = ast.Call(node.func, [*node.args, named(total)], [])
                    yield self.value("total missing", 1, path, more)
        if name in (*REDUCTIONS, "num_tiles"):
            yield from self._along_an_axis(node, path)
        if name in ("trans", "transpose", "exp"):
            yield self.value("call left out", 2, path, node.args[0])
        transposed = "trans" if self.has_masks else "transpose"
        for number in (0, 1) if name in ("mma", "dot", "matmul") else ():
            turned = self._called(transposed, node.func, node.args[number])
            yield self.value("transposed", 2, (*path, ("args", number)), turned)
        for side in self.sides if name in PLACES else ():
            yield self.value("factor", 2, path, f"{ast.unparse(node)} * {side}")
        for side in self.sides if name == "range" else ():
            ends = node.args if len(node.args) > 1 else [ast.Constant(0), *node.args]
            step = ast.Call(node.func, [*ends[:2], expression(side)], [])
            yield self.value("step", 1, path, step)

    def _called(self, name: str, beside: ast.expr, *given: ast.expr) -> ast.expr:
        """A call of another function of the module that `beside` is from."""
        return ast.Call(_in_same_module(beside, name), [*given], [])

    def _along_an_axis(self, node: ast.Call, path: Path) -> Iterator[Edit]:
        """The other axis, or one where there is none; a reduction that keeps its axes."""
        has_axis = len(node.args) > 1 or any(keyword.arg == "axis" for keyword in node.keywords)
        for number in range(len(node.args[1:2])):
            yield from self._other_axis(node, path, ("args", number + 1))
        for number, keyword in enumerate(node.keywords):
            if keyword.arg == "axis":
                yield from self._other_axis(node, path, ("keywords", number), ("value", None))
        if last_name(node.func) == "num_tiles":
            return
        keeps = "keep_dims" if self.has_masks else "keepdims"
        for axis in ("",) if has_axis else ("axis=0", "axis=1"):
            for keep in ("", f"{keeps}=True"):
                added = ", ".join(filter(None, (axis, keep)))
                new = expression(f"{ast.unparse(node)[:-1]}, {added})") if added else node
                yield self.value("axis missing" if axis else "axes kept", 1, path, new)

    def _other_axis(
        self, node: ast.Call, path: Path, *place: tuple[str, int | None]
    ) -> Iterator[Edit]:
        """Of the two axes of a tile the other one."""
        axis = node_at(node, place)
        if isinstance(axis, ast.Constant) and axis.value in (0, 1):
            new = copy_of(node)
            node_at(new, place).value = 1 - axis.value
            yield self.value("axis of a tile", 0, path, new)

    def _at_edges(self, node: ast.Call, path: Path) -> Iterator[Edit]:
        """What is past the edge gets a value, or another one; a mask where there is none."""
        there = {keyword.arg: number for number, keyword in enumerate(node.keywords)}
        usual = "other" if self.has_masks else "padding_mode"
        for text in PADDING[usual] if last_name(node.func) == "load" else ():
            value = _in_same_module(node.func, text) if "Mode" in text else expression(text)
            if usual not in there:
                yield self._with_keyword("padding", node, path, usual, value)
            elif ast.dump(value) != ast.dump(node.keywords[there[usual]].value):
                place: Path = (*path, ("keywords", there[usual]), ("value", None))
                yield self.value("padding", 1, place, value)
        if self.has_masks:
            yield from self._masks(node, path, there.get("mask"))

    def _masks(self, node: ast.Call, path: Path, number: int | None) -> Iterator[Edit]:
        for condition in map(expression, self.conditions):
            if not self.knows(condition, path):
                continue
            if number is None:
                yield self._with_keyword("mask", node, path, "mask", condition)
                continue
            place: Path = (*path, ("keywords", number), ("value", None))
            own = node.keywords[number].value
            if ast.dump(own) != ast.dump(condition):
                yield self.value("other mask", 2, place, condition)

    def _with_keyword(
        self, kind: str, node: ast.Call, path: Path, name: str, value: ast.expr
    ) -> Edit:
        more = ast.Call(node.func, node.args, [*node.keywords, ast.keyword(name, value)])
        return self.value(kind, 1, path, more)

    @cached_property
    def conditions(self) -> list[str]:
        """The conditions of the text, and that a place in it lies below a size."""
        found = [
            ast.unparse(node)
            for node, _ in self.nodes
            if isinstance(node, ast.Compare | ast.BinOp | ast.Name) and self.kind_of(node) == T.BOOL
        ]
        return list(dict.fromkeys([*found, *self.below_sizes]))[:MOST_CONDITIONS]

    @cached_property
    def below_sizes(self) -> list[str]:
        places = dict.fromkeys(
            ast.unparse(node)
            for node, path in self.nodes
            if isinstance(node, ast.Name | ast.Subscript)
            and self.is_whole(node)
            and self.is_read(node, path)
            and ast.unparse(node).split("[")[0] not in self.bounds
        )
        return [f"({place} < {bound})" for place in places for bound in sorted(self.bounds)]

    # --- values ---------------------------------------------------------------------------------

    def _with_another(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        """A float tile with another one: a factor, a divisor or a term that is missing."""
        if path[-1][0] not in ("value", "args", "left", "right"):
            return
        above = self.at[path[:-1]]
        stored = isinstance(above, ast.Call) and last_name(above.func) == "store"
        if (isinstance(node, ast.Call) and last_name(node.func) == "load") or (
            stored and isinstance(node, ast.Name)
        ):
            return  # where it is computed with, or was computed, says more
        text, known = ast.unparse(node), self.known_at(path)
        exponential = self.called("exp")
        for name in ("exp", "log") if exponential and not isinstance(node, ast.Call) else ():
            new = self._called(name, expression(exponential), node)
            yield self.value("call missing", 2, path, new)
        others = [name for name in self.real if name in known and name != text]
        around = (self.at[path[:length]] for length in range(len(path) + 1))
        calls = {last_name(part.func) for part in around if isinstance(part, ast.Call)}
        # A maximum that grows otherwise hides that nothing is rescaled.
        signs = () if calls & {"max", "maximum"} else SIGNS
        for name in others:
            for shape in SHAPES if self.has_masks else SHAPES[:1]:
                for kind, sign in signs:
                    new = expression(f"({text}) {sign} {name}{shape}")
                    yield self.value(kind, 2, path, new)
            if isinstance(node, ast.Call) and last_name(node.func) == "max":
                larger = self._called("maximum", node.func, named(name), node)
                yield self.value("tile maximum", 1, path, larger)
        for factor in self.rescales(path, text) if isinstance(node, ast.Name) else ():
            yield self.value("rescale", 2, path, f"{text} * {factor}")

    def rescales(self, path: Path, total: str) -> list[str]:
        """The factors that a sum of exponentials may lack."""
        exponential, known = self.called("exp"), self.known_at(path)
        others = [name for name in self.real if name in known and name != total]
        pairs = permutations(others if exponential else (), 2)
        return [f"{exponential}({one} - {two})" for one, two in pairs]

    def called(self, *names: str) -> str:
        """How the text calls a function of one of these names; "" if it does not."""
        called = (node.func for node, _ in self.nodes if isinstance(node, ast.Call))
        return next(
            (ast.unparse(function) for function in called if last_name(function) in names), ""
        )

    def _with_program(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        """The place of the program, or the step of a loop, where it is missing."""
        if not isinstance(node, ast.Call | ast.BinOp | ast.Subscript):
            return
        if path[-1][0] not in ("value", "left", "right"):
            return
        module = self.called("arange", "program_id").rpartition(".")[0]
        for axis, side in product((0, 1) if module else (), self.sides):
            new = expression(f"({ast.unparse(node)}) + {module}.program_id({axis}) * {side}")
            yield self.value("block", 2, path, new)
        for name in self.steps:
            if name in self.known_at(path) and name not in names_read(node):
                new = expression(f"({ast.unparse(node)}) + {name}")
                yield self.value("term", 2, path, new)

    def _strides(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        """A factor for what is added to addresses: how far apart two rows are."""
        match self.at[path[:-1]], node:
            case (ast.AugAssign(op=ast.Add()), _) | (ast.BinOp(op=ast.Add()), ast.Subscript()):
                for size in sorted(self.bounds):
                    new = expression(f"({ast.unparse(node)}) * {size}")
                    yield self.value("stride", 1, path, new)

    @cached_property
    def steps(self) -> list[str]:
        """What the loops count with."""
        loops = (node for node, _ in self.nodes if isinstance(node, ast.For))
        return sorted({name for loop in loops for name in names_bound(loop.target)})

    def _more_conditions(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        """A condition more, in a mask or in what becomes one."""
        for condition in map(expression, self.below_sizes if path[-1][0] == "value" else ()):
            if self.knows(condition, path):
                both = ast.BinOp(node, ast.BitAnd(), condition)
                yield self.value("clause missing", 2, path, both)

    def _programs_exchanged(self) -> Iterator[Edit]:
        """The numbers that a program has along two axes in each other's place, in all the text."""
        found: dict[str, list[Path]] = defaultdict(list)
        for node, path in self.nodes:
            if isinstance(node, ast.Call) and last_name(node.func) in PLACES:
                found[ast.unparse(node)].append(path)
        yield from self.exchanged(found, 2)

    # --- sums and loops -------------------------------------------------------------------------

    def _done_in_turns(self, statement: ast.Assign, path: Path) -> Iterator[Edit]:
        """What a call does to a sum in each turn of a loop: never."""
        value: Path = (*path, ("value", None))
        within = any(isinstance(self.at[path[:n]], ast.For) for n in range(1, len(path)))
        for argument in statement.value.args if isinstance(statement.value, ast.Call) else ():
            if within and T.is_float(self.kind_of(argument)):
                yield self.value("surplus", 2, value, argument)

    def _rescaled(self, addition: ast.AugAssign, path: Path) -> Iterator[Edit]:
        """A factor for the sum so far, before more is added to it."""
        total = ast.unparse(addition.target)
        if isinstance(addition.op, ast.Add) and total in self.real:
            for factor in self.rescales(path, total):
                times = ast.AugAssign(addition.target, ast.Mult(), expression(factor))
                yield self.statement("rescale", 2, path, StatementEdit(before=(times,)))

    def _counted(self, loop: ast.For, path: Path) -> Iterator[Edit]:
        """A loop over the first elements of tiles, where it is tiles that an index counts."""
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[_, _, step])):
                number = expression(f"{name} // ({ast.unparse(step)})")
                new = {
                    below: number
                    for node, below in self.nodes
                    if isinstance(node, ast.Name) and node.id == name
                    if below[: len(path)] == path and self.is_read(node, below)
                }
                if new and not self.has_masks:
                    yield self.values("tile number", 2, new, loop.lineno)


def _in_same_module(beside: ast.expr, name: str) -> ast.expr:
    """`ct.name` beside `ct.other`, and `name` beside `other`."""
    module = ast.unparse(beside).rpartition(".")[0]
    return expression(".".join(filter(None, (module, name))))
