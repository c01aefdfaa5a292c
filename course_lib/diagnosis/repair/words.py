"""What is said of a change that makes an answer right: where, and of what kind.

It never says what belongs there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.source.tree import Path, node_at
from course_lib.wording.sentences import Sentence, say
from course_lib.wording.words import shortened

LONGEST = 60  # characters of the student's text that are quoted
# What is changed, by the kind of change: of the text that stands there, and a question about it.
SAYS = {
    "name": ("another name in place of {text}", "What does {text} stand for in this line?"),
    "variable": (
        "a variable in place of {text}",
        "Which line should use what was computed before?",
    ),
    "number": ("another number in place of {text}", "Where does the number {text} come from?"),
    "number varies": ("a variable in place of {text}", "What should this number depend on?"),
    "size": ("another size in place of {text}", "Which axis of which array do you need here?"),
    "axis": ("the other axis in place of {text}", "Which axis does x count, and which one y?"),
    "register": (
        "another of threadIdx, blockIdx, blockDim and gridDim in place of {text}",
        "Which of them is the thread's position, and which is a number of threads?",
    ),
    "comparison": ("another comparison than {text}", "What if both sides are equal?"),
    "larger or smaller": (
        "another comparison than {text}",
        "Which of the two values should be taken?",
    ),
    "and/or": ("the parts of {text} joined differently", "Which threads should pass this test?"),
    "clause left out": ("fewer conditions in {text}", "Which of these tests are needed?"),
    "clause missing": ("one more condition beside {text}", "Which index is not tested here?"),
    "condition left out": ("no condition in {text}", "When should the other value be taken?"),
    "condition turned": (
        "the two values of {text} exchanged",
        "Which value do you want where the condition holds?",
    ),
    "operator": ("another operator in {text}", "Work out {text} for one thread by hand."),
    "surplus": ("only a part of {text}", "What is each part of {text} for?"),
    "turned": ("the two sides of {text} exchanged", "Which side comes first?"),
    "brackets": ("other brackets in {text}", "In which order is {text} evaluated?"),
    "rounding": ("{text} rounded the other way", "What if it does not divide?"),
    "unit": ("{text} rounded up to whole units", "In units of what size is {text} allocated?"),
    "end": ("the other of min and max in {text}", "Which of these values should count?"),
    "value missing": ("one more value beside those of {text}", "What else has to be counted here?"),
    "field": (
        "something that differs from call to call in place of {text}",
        "For which calls is {text} the right number?",
    ),
    "call left out": ("{text} without its call", "What does this call do to its argument?"),
    "narrow type": (
        "a type that holds larger numbers in place of that of {text}",
        "What is the largest number that occurs here, and the largest that this type can hold?",
    ),
    "array": ("another array in {text}", "Which array holds what is needed here?"),
    "off by one": (
        "one more or one less than {text}",
        "Take a small case: what is {text} there, and what should it be?",
    ),
    "term": ("something added to {text}", "Where does {text} begin to count?"),
    "factor": ("a factor with {text}", "How far apart are these?"),
    "block": (
        "the position of the block added to {text}",
        "Which elements belong to block 0, and which to block 1?",
    ),
    "left out": ("{text} left out", "What is this statement for?"),
    "= for +=": (
        "adding what {text} stores, instead of storing it",
        "Which of these numbers is left after the loop?",
    ),
    "+= for =": ("storing what {text} adds, instead of adding it", "What was there before?"),
    "zero": ("another initial value than {text}", "What is the sum before anything is added?"),
    "guard left out": ("no test around this", "Which threads have to execute this?"),
    "else missing": (
        "a value in the cells of the threads that fail this test",
        "What do the cells hold where the test fails?",
    ),
    "guard missing": ("a test before {text}", "Does every thread have an element here?"),
    "in the loop": ("{text} outside the loop", "How often should this happen?"),
    "behind the loop": ("{text} inside the loop", "How often should this happen?"),
    "before the loop": ("{text} inside the loop", "How often should this happen?"),
    "later start": ("a later start for {text}", "Which of these steps have already been done?"),
    "order": (
        "{text} and the next statement in the other order",
        "Which of the two has to run first, and why?",
    ),
    "exchange": ("two parts of {text} exchanged", "Which of the two do you need in each place?"),
    "indices": ("the two indices of {text} exchanged", "Which index is the row?"),
    "targets": ("the two names in {text} exchanged", "Which of the two comes first?"),
}


def said_of(edit: Edit, table: Mapping[str, tuple[str, str]] = SAYS) -> tuple[Sentence, Sentence]:
    """The change as a phrase, and a question that leads to it."""
    says, question = table[edit.kind]
    text = _text_of(edit)
    quoted = f"`{shortened(text, LONGEST)}`" if text else "this line and others"
    return say(says, text=quoted), say(question, text=quoted)


def _text_of(edit: Edit) -> str:
    """What the student has written there; "" where it is more than one statement."""
    if edit.kind == "later start":
        return _first_line(node_at(edit.tree, next(iter(edit.statements))[:-1]))
    if edit.kind == "name":  # wherever it stands
        return _first_line(node_at(edit.tree, edit.paths[0]))
    first, *others = sorted(edit.paths, key=lambda path: not _is_left_out(edit, path))
    length = len(first)
    while any(path[:length] != first[:length] for path in others):
        length -= 1
    around = node_at(edit.tree, first[:length])
    if isinstance(around, ast.Tuple) and first[length - 1][0] == "slice":
        around = node_at(edit.tree, first[: length - 1])
    if isinstance(around, ast.FunctionDef | ast.For | ast.While | ast.If) and others:
        return "" if edit.kind == "exchange" else _first_line(node_at(edit.tree, first))
    return _first_line(around)


def _is_left_out(edit: Edit, path: Path) -> bool:
    """Is it a statement that stands elsewhere with the change, or nowhere?"""
    return path in edit.statements and edit.statements[path].instead == ()


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).split("\n")[0]
