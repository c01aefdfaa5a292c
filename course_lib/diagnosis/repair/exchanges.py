"""Two registers, names, indices or targets, each in the other's place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from course_lib.diagnosis.repair.edit import Edit, StatementEdit
from course_lib.diagnosis.repair.ingredients import REGISTERS, Ingredients, expression, named
from course_lib.diagnosis.source.tree import Path, copy_of
from course_lib.emulator.language import types as T

Places = Mapping[str, Sequence[Path]]


def registers_exchanged(function: Ingredients, paths: Sequence[Path], cost: int) -> Iterator[Edit]:
    """Two of threadIdx.x, blockIdx.y, A.shape[0], … in each other's place: below some nodes."""
    found: dict[str, list[Path]] = defaultdict(list)
    for node, below in function.nodes:
        if any(below[: len(path)] == path for path in paths):
            match node:
                case ast.Attribute(value=ast.Attribute(attr=register)) if register in REGISTERS:
                    found[ast.unparse(node)].append(below)
                case ast.Subscript(value=ast.Attribute(attr="shape")) if function.is_whole(node):
                    found[ast.unparse(node)].append(below)
    for one, two in combinations(sorted(found), 2):
        if ("shape" in one) == ("shape" in two):
            new = {path: expression(two) for path in found[one]}
            new |= {path: expression(one) for path in found[two]}
            yield function.values("exchange", cost, new, min(map(function.line, new)))


def indices_exchanged(function: Ingredients) -> Iterator[Edit]:
    for node, path in function.nodes:
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and path[-1][0] == "slice":
            one, two = node.elts
            new: dict[Path, ast.expr] = {(*path, ("elts", 0)): two, (*path, ("elts", 1)): one}
            yield function.values("indices", 1, new, function.line(path))


def names_exchanged(function: Ingredients) -> Iterator[Edit]:
    """Two names of one statement, or of the whole function; or one wherever another stands."""
    for node, path in function.nodes:
        if isinstance(node, ast.stmt):
            reads = _reads_of_whole(function, path)
            yield from _exchanged(function, reads, 2 if path else 5)
            yield from _renamed(function, reads)
        if isinstance(node, ast.Assign | ast.AugAssign):
            value: Path = (*path, ("value", None))
            yield from _exchanged(function, _reads_of_whole(function, value), 2)
            yield from _arrays_exchanged(function, value)


def _reads_of_whole(function: Ingredients, path: Path) -> dict[str, list[Path]]:
    """Where below a statement the names of whole numbers are read."""
    reads: dict[str, list[Path]] = defaultdict(list)
    for node, below in function.nodes:
        if below[: len(path)] == path and isinstance(node, ast.Name):
            if node.id in function.whole and function.is_read(node, below):
                reads[node.id].append(below)
    return reads


def _exchanged(function: Ingredients, reads: Places, cost: int) -> Iterator[Edit]:
    places = [path for paths in reads.values() for path in paths]
    everywhere = [name for name in reads if _is_known(function, name, places)]
    for one, two in combinations(sorted(everywhere), 2):
        new: dict[Path, ast.expr] = {path: named(two) for path in reads[one]}
        new |= {path: named(one) for path in reads[two]}
        yield function.values("exchange", cost, new, min(map(function.line, new)))


def _arrays_exchanged(function: Ingredients, path: Path) -> Iterator[Edit]:
    """Two arrays with as many axes, of one value: `a[i] * b[j]` for `b[i] * a[j]`."""
    found: dict[str, dict[Path, ast.expr]] = defaultdict(dict)
    for node, below in function.nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in function.arrays:
                if below[: len(path)] == path and T.is_scalar(function.kind_of(node)):
                    found[name][below] = index
    for one, two in combinations(sorted(found), 2):
        if function.arrays[one] == function.arrays[two]:
            new: dict[Path, ast.expr] = {
                below: ast.Subscript(named(other), index, ast.Load())
                for name, other in ((one, two), (two, one))
                for below, index in found[name].items()
            }
            yield function.values("exchange", 2, new, min(map(function.line, new)))


def _renamed(function: Ingredients, reads: Places) -> Iterator[Edit]:
    for one, paths in sorted(reads.items()):
        for two in function.whole if len(paths) > 1 else ():
            alike = (two in function.bounds) == (one in function.bounds)
            if alike and two != one and _is_known(function, two, paths):
                new: dict[Path, ast.expr] = {path: named(two) for path in paths}
                yield function.values("name", 3, new, function.line(paths[0]))


def _is_known(function: Ingredients, name: str, paths: Sequence[Path]) -> bool:
    return all(name in function.known_at(path) for path in paths)


def arguments_exchanged(function: Ingredients) -> Iterator[Edit]:
    """Two arguments of a call, one after the other: `add(i, j)` for `add(j, i)`."""
    for node, path in function.nodes:
        for number, (one, two) in enumerate(
            pairwise(node.args if isinstance(node, ast.Call) else ())
        ):
            kinds = [function.kind_of(each) for each in (one, two)]
            if kinds[0] == kinds[1] and all(map(T.is_scalar, kinds)):
                new: dict[Path, ast.expr] = {
                    (*path, ("args", number)): two,
                    (*path, ("args", number + 1)): one,
                }
                yield function.values("exchange", 2, new, function.line(path))


def targets_exchanged(function: Ingredients) -> Iterator[Edit]:
    """`y, x = …` for `x, y = …`."""
    for node, path in function.nodes:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=[one, two]), *_]):
                turned = ast.Tuple([copy_of(two), copy_of(one)], ast.Store())
                new = ast.Assign([turned], node.value, lineno=node.lineno)
                change = StatementEdit(instead=(new,))
                yield function.statement("targets", 1, path, change)
