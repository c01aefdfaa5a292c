"""Makes answers that are right only up to a size out of right ones, by exchanging one bound.

Every bound of a loop and every side of a guard is replaced by numbers, by the block's and the
grid's sizes, by the answer's own constants and by the sizes of the arrays; every size by the lesser
of it and a number; and every store into the output is left out from some row or column on.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

NUMBERS = (4, 16, 64, 100, 256, 512, 777, 1000, 2048)
LAUNCH = ("cuda.blockDim.x", "cuda.blockDim.y", "cuda.gridDim.x", "cuda.gridDim.y")
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
FLAT = {"block_scan": 1}  # axes of the arrays, where that is not 2


@dataclass(frozen=True)
class Mutant:
    """A changed answer.

    Attributes:
        exercise: whose.
        answer: which of its right answers was changed.
        place: the line that was changed, as it was; with #2, #3, … where the same stands there
            again.
        old, new: what was changed, and into what.
        text: the answer after the change.
    """

    exercise: str
    answer: str
    place: str
    old: str
    new: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.exercise} {self.answer}: {self.place}: {self.old} -> {self.new}"


def mutants(exercise: str, answer: str, text: str) -> Iterator[Mutant]:
    """All of an answer, kind by kind and in the order of its lines, each text once."""
    tree = ast.parse(text)
    code = text.encode()  # the columns of a syntax tree are counted in bytes
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen, places = {text}, Counter[str]()
    for node, news in _changes(exercise, tree):
        assert node.end_lineno is not None and node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = code[first:end].decode()
        line = text.splitlines()[node.lineno - 1].split("#")[0].strip()
        places[f"{line}: {old}"] += 1
        again = places[f"{line}: {old}"]
        place = f"{line} #{again}" if again > 1 else line
        for new in news:
            changed = (code[:first] + new.encode() + code[end:]).decode()
            if changed not in seen:
                seen.add(changed)
                yield Mutant(exercise, answer, place, old, new, changed)


def _changes(exercise: str, tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, list[str]]]:
    """Each place in an answer, and what is put there, one at a time."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    kernel = next(function for function in functions if function.name == exercise)
    axes = range(FLAT.get(exercise, 2))
    sizes = [f"{each.arg}.shape[{axis}]" for each in kernel.args.args for axis in axes]
    bounds = [*map(str, NUMBERS), *LAUNCH, *_constants(tree), *sizes]
    for function in functions:
        for place in _bounds(function):
            yield place, bounds
        for place in _sizes(function):
            yield place, [f"min({ast.unparse(place)}, {number})" for number in NUMBERS]
    output = kernel.args.args[-1].arg
    for store in ast.walk(kernel):
        if isinstance(store, (ast.Assign, ast.AugAssign)):
            target = store.targets[0] if isinstance(store, ast.Assign) else store.target
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) == output:
                yield store, list(_dropped(store, target))


def _constants(tree: ast.Module) -> list[str]:
    """The names of the answer's own numbers."""
    return [
        name.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant | ast.BinOp | ast.Tuple)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    ]


def _bounds(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The ends of ranges, and what is compared by order."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "range":
            yield node.args[min(1, len(node.args) - 1)]
        elif isinstance(node, ast.Compare) and any(isinstance(op, ORDER) for op in node.ops):
            yield from (node.left, *node.comparators)


def _sizes(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        is_shape = isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(".shape")
        if is_shape or (isinstance(node, ast.Call) and ast.unparse(node.func) == "len"):
            yield node  # type: ignore[misc]


def _dropped(store: ast.stmt, target: ast.Subscript) -> Iterator[str]:
    """The store only below a number, along each axis of the output."""
    index = target.slice
    for item in index.elts if isinstance(index, ast.Tuple) else [index]:
        for number in NUMBERS:
            inner = ast.unparse(store).replace("\n", "\n" + " " * (store.col_offset + 4))
            yield f"if {ast.unparse(item)} < {number}:\n{' ' * (store.col_offset + 4)}{inner}"
