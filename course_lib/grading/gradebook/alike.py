"""Answers of several students that are alike: their structure, and what unusual things they share.

The text is parsed and never executed. Two answers of one structure do the same in the same order,
whatever their variables are called. Names that mean something outside the answer stay: functions
of Numba and NumPy, attributes, and the names of builtins.
"""

import ast
import csv
import io
import tokenize
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from course_lib.building.notebook import BuildError, answer_cells, read, source
from course_lib.curriculum import TASKS
from course_lib.emulator.budget import MAX_SOURCE_CHARACTERS
from course_lib.grading.gradebook.tables import for_spreadsheet
from course_lib.grading.records import GRADED, GradebookRow
from course_lib.grading.settings import OUR_NOTEBOOKS, Settings

WINDOW = 6  # nodes of the tree that make one of its pieces
MOST_NODES = 5_000  # an answer of the course has some 600
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class Structure:
    """An answer's structure."""

    whole: str  # equal for two answers of one structure
    pieces: frozenset[str]  # every run of WINDOW nodes of the tree, its own names all alike
    words: str  # the text without white space and comments: equal where names are equal, too
    remarks: str  # its comments


def structure_of(text: str) -> Structure | None:
    """The structure of a text; None where it is no Python, or too large to compare."""
    if len(text) > MAX_SOURCE_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
            return None
        plain = _in_one_order(_Plain().visit(tree))
        blind = [*_tokens(plain, _own_names(plain), {}, blind=True)]
        whole = " ".join(_tokens(plain, _own_names(plain), {}, blind=False))
        words, remarks = _words(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    windows = range(max(len(blind) - WINDOW + 1, 0))
    pieces = frozenset(" ".join(blind[i : i + WINDOW]) for i in windows)
    return Structure(whole, pieces, words, remarks)


class _Plain(ast.NodeTransformer):
    """Without what does nothing, and with one spelling for what has several."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(
                    node, field, [statement for statement in block if not _says_nothing(statement)]
                )
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a += b` is `a = a + b`."""
        self.generic_visit(node)
        return ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a > b` is `b < a`."""
        self.generic_visit(node)
        turned = _TURNED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if turned is None:
            return node
        return ast.Compare(node.comparators[0], [turned()], [node.left])


def _says_nothing(node: ast.AST) -> bool:
    """An import, `pass`, or a text that is a statement by itself."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone or isinstance(node, ast.Import | ast.ImportFrom | ast.Pass)


def _in_one_order(tree: ast.AST) -> ast.AST:
    """Operands of +, * and `and`, and constants above a kernel, in an order of their own."""
    own = _own_names(tree)

    def key(node: ast.AST) -> str:
        return " ".join(_tokens(node, own, {}, blind=True))

    for node in [*ast.walk(tree)][::-1]:  # the innermost first
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=key)
        elif isinstance(node, ast.BoolOp):
            node.values.sort(key=key)
        elif isinstance(node, ast.Module):
            node.body.sort(key=lambda statement: (not isinstance(statement, ast.Assign), ""))
            constants = [statement for statement in node.body if isinstance(statement, ast.Assign)]
            node.body = [*sorted(constants, key=key), *node.body[len(constants) :]]
    return tree


def _own_names(tree: ast.AST) -> frozenset[str]:
    """The names that the answer itself defines."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return frozenset(found)


def _tokens(
    node: ast.AST, own: frozenset[str], numbers: dict[str, int], blind: bool
) -> Iterator[str]:
    """The nodes of a tree from the top; its own names by a number, or all alike."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        match part:
            case ast.Load() | ast.Store() | ast.Del() | ast.arguments():
                pass
            case ast.Name(id=name) | ast.arg(arg=name):
                if name not in own:
                    yield name
                else:
                    yield "v" if blind else f"v{numbers.setdefault(name, len(numbers))}"
            case ast.Constant(value=value):
                yield repr(value)[:40]
            case ast.Attribute(attr=name):
                yield f".{name}"
            case _:
                yield type(part).__name__
        waiting += [*ast.iter_child_nodes(part)][::-1]


def _words(text: str) -> tuple[str, str]:
    """The tokens of a text, and its comments."""
    words, remarks = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            remarks.append(token.string.strip("# \t"))
        elif token.string.strip():
            words.append(token.string)
    return " ".join(words), "\n".join(filter(None, remarks))


# --- Equal and nearly equal answers ---------------------------------------------------------------
# A hint for a person, and never a verdict. Most right answers to a small task look alike, and so
# do many wrong ones; that two of them agree says nothing then. So a piece of an answer counts only
# if neither the course's own code has it nor many others in the class, and two answers are named
# only if they share enough of what is left. How many have the same answer is said beside it.


FEW = 24  # pieces, some four places: who shares fewer unusual ones may have had the same idea
SHARE = 0.8  # of the unusual pieces that either has
COMMON_SHARE, COMMON_LEAST = 0.25, 2  # more different answers than that have a piece: it is usual
STANDARD_LEAST = 3  # more equal answers than that, and than COMMON_SHARE, are simply the usual one
MOST_OF_A_CLASS = 200  # hints; in a larger list nobody would look
WORD_FOR_WORD = "names and comments"
COLUMNS = ("exercise", "submissions", "alike", "also", "with_this_answer", "answers")


@dataclass(frozen=True)
class Alike:
    """Some answers that a person may want to compare."""

    exercise: str  # the id
    keys: tuple[str, ...]  # of the submissions, sorted
    share: float  # of the unusual pieces that either has, how many both have; 1 if they are equal
    equal: bool  # they have one structure
    also: str  # what agrees besides: "names", or "names and comments"
    usual: int  # how many answers have this structure, if they are equal
    answers: int  # how many of the class were compared

    @property
    def said(self) -> str:
        """How alike they are, in a few words."""
        return "equal" if self.equal else f"{100 * self.share:.0f} % of what is unusual"


def alike(rows: Iterable[GradebookRow], settings: Settings) -> list[Alike]:
    """Everything that is worth a look, exercise by exercise, what agrees most first."""
    ours = _own_texts(settings.notebooks)
    answers: dict[str, dict[str, Structure]] = defaultdict(dict)
    for row in rows:
        if row.answer is not None and row.answer.problem is None and row.exercise in GRADED:
            found = structure_of(row.answer.text)
            if found is not None:
                answers[row.exercise][row.submission.key] = found
    hints = [
        hint
        for exercise in sorted(answers, key=settings.place)
        for hint in _of_exercise(exercise, answers[exercise], ours.get(exercise, []))
    ]
    return hints[:MOST_OF_A_CLASS]


def _own_texts(exercises: Path) -> dict[str, list[str]]:
    """What the course itself gives or publishes for each exercise: stubs and solutions."""
    found: dict[str, list[str]] = defaultdict(list)
    theirs = {exercises, exercises.parent / "solutions"}
    for folder in sorted(theirs | {OUR_NOTEBOOKS, OUR_NOTEBOOKS.parent / "solutions"}):
        for path in sorted(folder.glob("*.ipynb")):
            try:
                cells = answer_cells(read(path))
            except (OSError, BuildError):
                continue
            for name, cell in cells.items():
                found[name].append(source(cell))
    for name, task in TASKS.items():
        found[name] += [task.given, task.answer, task.another]
    return found


def _of_exercise(
    exercise: str, answers: Mapping[str, Structure], ours: Sequence[str]
) -> list[Alike]:
    """The hints about one exercise."""
    known = [parsed for text in ours if (parsed := structure_of(text))]
    published = {structure.whole for structure in known}
    given = frozenset[str]().union(*(structure.pieces for structure in known))
    groups: dict[str, list[str]] = defaultdict(list)
    for key, answer in answers.items():
        groups[answer.whole].append(key)
    own = {  # what is left of each different answer
        whole: answers[keys[0]].pieces - given
        for whole, keys in groups.items()
        if whole not in published
    }
    found = []
    for whole, keys in groups.items():
        also = _also(answers, keys)
        many = len(keys) > max(STANDARD_LEAST, COMMON_SHARE * len(answers))
        usual = many and also != WORD_FOR_WORD
        if len(keys) > 1 and len(own.get(whole, ())) >= FEW and not usual:
            group = tuple(sorted(keys))
            found.append(Alike(exercise, group, 1.0, True, also, len(keys), len(answers)))
    for one, other, share in _near(own):  # groups of equal answers are named by themselves
        pair = tuple(sorted((min(groups[one]), min(groups[other]))))
        found.append(Alike(exercise, pair, share, False, "", 1, len(answers)))
    return sorted(found, key=lambda hint: (not hint.equal, -hint.share, hint.keys))


def _near(own: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str, float]]:
    """Pairs of different answers that share most of what is rare, and how much of it."""
    count = Counter(piece for pieces in own.values() for piece in pieces)
    most = max(COMMON_LEAST, COMMON_SHARE * len(own))
    rare = {
        whole: frozenset(piece for piece in pieces if count[piece] <= most)
        for whole, pieces in own.items()
    }
    holders: dict[str, list[str]] = defaultdict(list)
    for whole in sorted(rare):
        for piece in rare[whole]:
            holders[piece].append(whole)
    shared = Counter(pair for holder in holders.values() for pair in combinations(holder, 2))
    for (one, other), both in shared.items():
        share = both / len(rare[one] | rare[other])
        if both >= FEW and share >= SHARE:
            yield one, other, share


def _also(answers: Mapping[str, Structure], keys: Sequence[str]) -> str:
    first, *others = (answers[key] for key in keys)
    if any(other.words != first.words for other in others):
        return ""
    if first.remarks and all(other.remarks == first.remarks for other in others):
        return WORD_FOR_WORD
    return "names"


def alike_csv(hints: Sequence[Alike], called: Mapping[str, str]) -> str | None:
    """The hints as a table; None if there are none."""
    if not hints:
        return None
    text = io.StringIO()
    table = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table.writerow(COLUMNS)
    for hint in hints:
        names = for_spreadsheet("; ".join(called[key] for key in hint.keys))
        usual = hint.usual if hint.equal else ""
        table.writerow([hint.exercise, names, hint.said, hint.also, usual, hint.answers])
    return text.getvalue()
