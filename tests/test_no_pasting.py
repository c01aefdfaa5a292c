"""Nothing that a lesson shows answers a later exercise or task when it is pasted."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from passing import passes, without_cause
from sampling import marks

from course_lib.building.notebook import Cell, code, dumps, exercise_id, markdown, new, read, source
from course_lib.building.placed import task_of
from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, LESSONS, TASKS, Exercise, Task

IMPORTS = "import math\nimport numpy as np\nfrom numba import cuda, float32, float64, int32\n"
USUAL = (16, 4)  # for a size that a factory of kernels takes
_FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A function as a lesson shows it.

    Attributes:
        lesson: the number of the lesson.
        place: how many cells of the course come before it.
        node: its definition.
        around: what else its notebook has said so far, by name.
        outer: parameters of the functions that it stands in, with their defaults; "" for none.
    """

    lesson: str
    place: int
    node: ast.FunctionDef
    around: dict[str, ast.stmt]
    outer: dict[str, str]

    @property
    def is_kernel(self) -> bool:
        return any("cuda.jit" in ast.unparse(each) for each in self.node.decorator_list)


@dataclass(frozen=True)
class Asked:
    """An exercise or a task, and how many cells of the course come before it."""

    entry: Exercise
    place: int


def course(root: Path) -> tuple[list[Shown], list[Asked]]:
    """Every function that is shown, and everything that is asked, in the course's order."""
    shown: list[Shown] = []
    asked: list[Asked] = []
    place = 0
    for lesson in LESSONS:
        for folder in ("notebooks", "exercises") if lesson.exercises else ("notebooks",):
            around: dict[str, ast.stmt] = {}
            for cell in read(root / folder / f"{lesson.stem}.ipynb")["cells"]:
                place += 1
                entry = task_of(cell) or EXERCISES.get(exercise_id(cell) or "")
                asked += [Asked(entry, place)] if entry else []
                for tree in _code_of(cell):
                    around |= _named(tree.body)
                    found = _functions(tree, dict(around))
                    shown += [Shown(lesson.number, place, *each) for each in found]
    return _different(shown), asked


def handed_in(function: Shown, entry: Exercise) -> list[str]:
    """The texts of an answer that is copied; none where the function cannot be one.

    There are two where the function stands in another one that takes a size.
    """
    node = function.node
    fits = len(node.args.args) == len(entry.parameters)
    if not fits or not entry.kind.is_function or function.is_kernel != entry.kind.is_launched:
        return []
    names = dict(zip((each.arg for each in node.args.args), entry.parameters, strict=True))
    needed = _needed(node, function.around)
    sizes = {name.upper(): value for name, value in entry.constants.items()}
    free = {name for each in (node, *needed) for name in _free_names(each)}
    taken = {name: default for name, default in function.outer.items() if name in free}
    below = [ast.unparse(each) for each in needed]
    renamed = _Renamed(node.name, entry.id, names).visit(ast.parse(ast.unparse(node)))
    below.append(ast.unparse(renamed))
    texts = []
    for usual in USUAL:
        above = [f"{name} = {default or sizes.get(name.upper(), usual)}"
                 for name, default in taken.items()]  # fmt: skip
        texts.append(IMPORTS + "\n".join([*above, *below]) + "\n")
    return list(dict.fromkeys(texts))


class _Renamed(ast.NodeTransformer):
    """A function under another name, its parameters too; what had their names gets a tail."""

    def __init__(self, name: str, asked: str, parameters: dict[str, str]) -> None:
        taken = set(parameters.values()) - set(parameters)
        self.names = {each: f"{each}_" for each in taken} | parameters
        self.name, self.asked = name, asked

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.asked if node.name == self.name else node.name
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node


def _code_of(cell: Cell) -> Iterator[ast.Module]:
    """The code in a cell, and the listings in its words; listings that are cut short are none."""
    texts = [source(cell)] if cell["cell_type"] == "code" else _FENCED.findall(source(cell))
    for text in texts:
        try:
            yield ast.parse(text)
        except SyntaxError:
            assert cell["cell_type"] != "code", text


def _functions(
    tree: ast.AST, around: dict[str, ast.stmt], outer: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[ast.FunctionDef, dict[str, ast.stmt], dict[str, str]]]:
    """Each function in some code, with what stands around it and what that takes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node, around, dict(outer)
            yield from _functions(node, around | _named(node.body), {**outer, **_takes(node)})
        else:
            yield from _functions(node, around, outer)


def _takes(node: ast.FunctionDef) -> dict[str, str]:
    """The parameters of a function with their defaults, "" for none."""
    names = [each.arg for each in node.args.args]
    defaults = [ast.unparse(each) for each in node.args.defaults]
    return dict(zip(names, [""] * (len(names) - len(defaults)) + defaults, strict=True))


def _named(body: Sequence[ast.stmt]) -> dict[str, ast.stmt]:
    """Functions and constants of a module or a function by their names."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
                found |= dict.fromkeys(names, node)
    return found


def _needed(node: ast.AST, around: dict[str, ast.stmt]) -> list[ast.stmt]:
    """What a function uses of its notebook, what that uses first."""
    found: dict[int, ast.stmt] = {}
    for name in _free_names(node):
        other = around.get(name)
        if other is not None and other is not node and id(other) not in found:
            rest = {key: each for key, each in around.items() if each is not other}
            found |= {id(each): each for each in _needed(other, rest)}
            found[id(other)] = other
    return list(found.values())


def _free_names(node: ast.AST) -> list[str]:
    """The names that a statement takes from around it, in its order."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    if isinstance(node, ast.FunctionDef):
        own |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return [each.id for each in names if each.id not in own]


def _different(shown: Sequence[Shown]) -> list[Shown]:
    """Each function once, where it is first shown."""
    first: dict[str, Shown] = {}
    for each in shown:
        first.setdefault(ast.dump(each.node), each)
    return list(first.values())


ROOT = Path(__file__).resolve().parents[1]
# What a first attempt earns: right numbers on every shape; not what the exercise is about.
FIRST_ATTEMPT = ("right", "bounds", "float32")

SHOWN, ASKED = course(ROOT)
SLOW_ONE_IN = 6  # of those that are asked for; `--long` tries each of them


def gifts(shown: list[Shown], asked: Asked) -> Iterator[tuple[str, str]]:
    """The entry, with each earlier lesson that has a function which earns too much there."""
    entry = asked.entry
    for function in shown:
        for text in handed_in(function, entry) if function.place < asked.place else ():
            if earns_too_much(entry, text):
                yield entry.id, function.lesson


def earns_too_much(entry: Exercise, text: str) -> bool:
    """A task has no points, so what does not pass there earns nothing."""
    if isinstance(entry, Task):
        return passes(entry.id, text)
    report = without_cause(entry.id, text)
    most = sum(entry.points.get(name, 0) for name in FIRST_ATTEMPT)
    return report.passed or report.points > most


@pytest.mark.parametrize("asked", [
    pytest.param(asked, id=asked.entry.id, marks=marks(number, slow=SLOW_ONE_IN))
    for number, asked in enumerate(ASKED)
])  # fmt: skip
def test_no_function_of_a_lesson_answers_what_comes_later(asked):
    assert not set(gifts(SHOWN, asked))


def test_everything_that_is_asked_is_tried():
    placed = {each.entry.id for each in ASKED}
    assert placed >= set(EXERCISES)
    assert {each.lesson for each in SHOWN} <= {each.number for each in LESSONS}
    assert [each.place for each in ASKED] == sorted(each.place for each in ASKED)


GUARDED = """\
@cuda.jit
def elsewhere(A, out, x):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] = both(A[row, col], out[row, col])
"""
HELPERS = """\
@cuda.jit(device=True)
def both(p, q):
    return p + q

def two(p, q):
    return 2

TEN = 10
"""
FACTORY = """\
def make(scale, by=np.int32, unused=0):
    twice = 2 * by(scale)
    @cuda.jit
    def made(a, out):
        out[0] = twice * TEN
"""


@pytest.fixture
def tiny(tmp_path):
    """A course whose first lesson shows a sum in two cells and in its words."""
    for lesson in LESSONS:
        for folder in ("notebooks", "exercises"):
            (tmp_path / folder).mkdir(exist_ok=True)
            path = tmp_path / folder / f"{lesson.stem}.ipynb"
            path.write_text(dumps(new([code("pass", id="x")])))
    cells = [
        code(HELPERS, id="helper"),
        code(GUARDED, id="kernel"),
        code(GUARDED, id="again"),
        markdown(f"```python\n{FACTORY}```\n\n```python\ndef cut(…\n```", id="words"),
        code(f"# TASK put_seven\n{TASKS['put_seven'].given}", id="task"),
    ]
    (tmp_path / f"notebooks/{LESSONS[0].stem}.ipynb").write_text(dumps(new(cells)))
    (tmp_path / f"exercises/{LESSONS[0].stem}.ipynb").write_text(
        dumps(new([code("# EXERCISE mat_add\n@cuda.jit\ndef mat_add(A, B, C):\n    pass")]))
    )
    return course(tmp_path)


def test_what_is_pasted_passes_under_its_new_names(tiny):
    shown, asked = tiny
    (text,) = handed_in(shown[2], EXERCISES["mat_add"])
    assert "C[row, col] = both(A[row, col], B[row, col])" in text
    assert examine_source("mat_add", text).passed
    assert list(gifts(shown, asked[1])) == [("mat_add", "00")]
    assert list(gifts(shown, asked[0])) == []
