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
    "name": ("use another name instead of {text}", "What does {text} stand for in this line?"),
    "variable": (
        "use a variable instead of {text}",
        "Which line should use what was computed before?",
    ),
    "number": ("use another number instead of {text}", "Where does the number {text} come from?"),
    "number varies": ("use a variable instead of {text}", "What should this number depend on?"),
    "size": (
        "use another size instead of {text}",
        "Which axis of which array do you need here?",
    ),
    "axis": (
        "use the other axis instead of {text}",
        "Which axis does x count, and which one does y count?",
    ),
    "register": (
        "use another of threadIdx, blockIdx, blockDim and gridDim instead of {text}",
        "Which of these four is the thread's position, and which is a number of threads?",
    ),
    "shuffle": (
        "use another shuffle in {text}",
        "From which lane does lane 0 get a number here, and from which lane does lane 5?",
    ),
    "comparison": (
        "use another comparison than {text}",
        "What should happen if both sides are equal?",
    ),
    "larger or smaller": (
        "use another comparison than {text}",
        "Which of the two values should be used?",
    ),
    "and/or": ("join the parts of {text} differently", "Which threads should pass this test?"),
    "clause left out": ("test fewer conditions in {text}", "Which of these tests are needed?"),
    "clause missing": ("test one more condition besides {text}", "Which index is not tested here?"),
    "limit": ("limit {text} to the length of an array", "Where does the last part end?"),
    "operator": ("use another operator in {text}", "Work out {text} for one thread by hand."),
    "surplus": ("keep only a part of {text}", "What is each part of {text} for?"),
    "turned": ("swap the two sides of {text}", "Which side comes first?"),
    "brackets": (
        "place the brackets in {text} differently",
        "In which order is {text} evaluated?",
    ),
    "rounding": ("round {text} the other way", "What if the division leaves a remainder?"),
    "toward zero": (
        "round {text} down instead of toward zero",
        "What is {text} for a number between -1 and 0?",
    ),
    "field": (
        "use something that differs from call to call instead of {text}",
        "For which calls is {text} the right number?",
    ),
    "call left out": ("leave out the call in {text}", "What does this call do to its argument?"),
    "narrow type": (
        "use a type that can hold larger numbers than the one in {text}",
        "What is the largest number that occurs here, and the largest that this type can hold?",
    ),
    "array too small": (
        "make {text} larger",
        "How many elements of this array does the kernel use?",
    ),
    "array": ("use another array in {text}", "Which array holds what is needed here?"),
    "split": (
        "divide the number of the thread into its two indices in another way than {text}",
        "Which of the two indices should change from one thread to the next?",
    ),
    "off by one": (
        "use one more or one less than {text}",
        "Take a small case: what is {text} there, and what should it be?",
    ),
    "term": (
        "add something to {text}, or subtract something from it",
        "Where does {text} begin to count?",
    ),
    "factor": (
        "multiply or divide {text} by something",
        "Take a small case. By what factor is this value off?",
    ),
    "remainder": (
        "use only the remainder of {text} after a division",
        "How many different values should {text} have here?",
    ),
    "block": (
        "add the position of the block to {text}",
        "Which elements belong to block 0, and which to block 1?",
    ),
    "left out": ("leave out {text}", "What is this statement for?"),
    "= for +=": (
        "add the value in {text} instead of storing it",
        "Which of these numbers is left after the loop?",
    ),
    "sum from zero": (
        "start at 0 before the loop, and add the value in {text} instead of storing it",
        "Which of these numbers is left after the loop?",
    ),
    "combined": (
        "combine the two numbers in {text} in another way",
        "What should {text} compute from the two numbers?",
    ),
    "not kept": (
        "compare the value in {text} with what was there before",
        "Which of these numbers is left after the loop?",
    ),
    "+= for =": (
        "store the value in {text} instead of adding it",
        "What is stored there before this line runs?",
    ),
    "zero": (
        "use another initial value than {text}",
        "Which initial value leaves the result as it is?",
    ),
    "guard left out": (
        "remove the test around this statement",
        "Which threads have to execute this?",
    ),
    "ends the loop": (
        "leave out this turn alone instead of all that are left",
        "Which turns of the loop come after this one, and what happens to them?",
    ),
    "only once": (
        "let each thread do more than one turn of {text}",
        "How many turns are needed, and how many threads are there?",
    ),
    "else missing": (
        "store a value in the cells of the threads that fail this test",
        "What do the cells hold where the test fails?",
    ),
    "guard missing": ("put a test before {text}", "Does every thread have an element here?"),
    "in the loop": ("move {text} out of the loop", "How often should this statement run?"),
    "behind the loop": ("move {text} into the loop", "How often should this statement run?"),
    "before the loop": ("move {text} into the loop", "How often should this statement run?"),
    "in the branch": ("move {text} out of the branch", "Which threads have to execute this?"),
    "behind the branch": ("move {text} into the branch", "Which threads have to execute this?"),
    "before the branch": ("move {text} into the branch", "Which threads have to execute this?"),
    "order": (
        "swap {text} and the next statement",
        "Which of the two statements has to run first, and why?",
    ),
    "too late": (
        "move {text} above the statement before it",
        "Which of the two statements has to run first, and why?",
    ),
    "exchange": ("swap two parts of {text}", "Which of the two parts do you need in each place?"),
    "indices": ("swap the two indices of {text}", "Which index is the row?"),
    "part moved": (
        "move a part of one index of {text} to the other one",
        "Which of the two indices should change from one number to the next?",
    ),
    "targets": ("swap the two names in {text}", "Which of the two values comes first?"),
}


def said_of(edit: Edit, table: Mapping[str, tuple[str, str]] = SAYS) -> tuple[Sentence, Sentence]:
    """What to do, as a phrase, and a question that leads to it."""
    says, question = table[edit.kind]
    text = _text_of(edit)
    quoted = f"`{shortened(text, LONGEST)}`" if text else "this line and of others"
    return say(says, text=quoted), say(question, text=quoted)


def _text_of(edit: Edit) -> str:
    """What the student has written there; "" where it is more than one statement."""
    if edit.kind in ("name", "number"):  # wherever it stands
        return _first_line(node_at(edit.tree, edit.paths[0]))
    if edit.kind == "array too small":
        return _first_line(node_at(edit.tree, edit.paths[0][:-1]))
    if edit.kind == "too late":
        return _first_line(node_at(edit.tree, max(edit.paths)))
    if edit.kind == "order":
        return _first_line(node_at(edit.tree, min(edit.paths)))
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
