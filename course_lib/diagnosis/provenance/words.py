"""What a fact about wrong numbers is called and how it is told: code, sentence, question."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from course_lib.diagnosis.provenance.facts import (
    ALIAS,
    BEFORE,
    EVERY,
    FIRST,
    FOREIGN,
    FROM,
    INDEPENDENT,
    LAST,
    MISSING,
    MOVED,
    NOT_FINITE,
    NOT_MEANT,
    ONLY,
    PAIRED,
    READS_OTHER,
    START,
    STRETCH,
    SURPLUS,
    TIMES,
    UNUSED,
    UNWRITTEN,
    UP_TO,
    WEIGHTED,
    Fact,
    SumTerms,
)
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import asks_about_elements, is_constant
from course_lib.wording.sentences import Sentence, say
from course_lib.wording.words import element, joined

# Of each kind of fact: the usual code, a sentence and a question.
TOLD: dict[str, tuple[str, str, str]] = {
    UNWRITTEN: (
        "incomplete-output",
        "{element} still holds what it held before the launch.",
        "Which thread should write {element}, and what does it do instead?",
    ),
    NOT_MEANT: (
        "wrong-index",
        "The kernel writes {element}, but it should stay as it was before the launch.",
        "Which thread writes {element}, and what should stop it?",
    ),
    NOT_FINITE: (
        "numerical-overflow",
        "{element} is not a finite number.",
        "Which step on the way to {element} has no finite result?",
    ),
    MOVED: (
        "wrong-index",
        "{element} holds the result that belongs to {read}.",
        "Which thread stores {element}, and where does its number come from?",
    ),
    READS_OTHER: (
        "wrong-index",
        "{element} was computed with {read} instead of {right}.",
        "Which index of {array} does the kernel use for {element}, and which one should it use?",
    ),
    PAIRED: (
        "wrong-index",
        "{element} combines the wrong elements of {array}: it was computed with {read} "
        "instead of {right}.",
        "Which two elements belong together in every step?",
    ),
    ALIAS: (
        "wrong-index",
        "The kernel uses {array} instead of {other}.",
        "Which array does each name refer to at this line?",
    ),
    INDEPENDENT: (
        "wrong-formula",
        "{element} does not depend on any element of {array}.",
        "Which line should use {array} to compute {element}?",
    ),
    MISSING: (
        "wrong-loop-bound",
        "In {element}, {terms} missing.",
        "For which steps does this line run, and for which steps should it run?",
    ),
    ONLY: (
        "accumulator-error",
        "{element} holds only a part of its sum: {terms} there, and the rest is missing.",
        "What happens to the sum from one step to the next?",
    ),
    UNUSED: (
        "wrong-bounds-check",
        "Nothing depends on {right}, but {element} should.",
        "Which thread should load {right}, and what keeps it from doing so?",
    ),
    SURPLUS: (
        "wrong-loop-bound",
        "{element} was computed with {read}, which does not belong there.",
        "Which step adds {read} to {element}?",
    ),
    FOREIGN: (
        "accumulator-error",
        "{element} was computed with {read}, which belongs to another sum.",
        "Which variable collects the sum of {element}, and when is it reset?",
    ),
    TIMES: (
        "accumulator-error",
        "In {element}, {terms} counted {factor} times.",
        "How often does each term reach {element}, and with which factor?",
    ),
    WEIGHTED: (
        "wrong-formula",
        "{element} uses the right elements of {array}, but with the wrong weights.",
        "Work out {element} step by step. Where does the kernel depart from the formula?",
    ),
    BEFORE: (
        "uninitialised-read",
        "{element} includes what {array} held before the launch.",
        "What does {array} hold when the kernel starts?",
    ),
    START: (
        "accumulator-error",
        "{element} is off by {factor} even if all inputs are 0.",
        "What gets into {element} whatever the inputs are?",
    ),
}
INDEX, BOUND, TEST = "wrong-index", "wrong-loop-bound", "wrong-bounds-check"
SUM, MASK = "accumulator-error", "missing-mask"
# What the statement at the suspected line makes of it.
BY_STATEMENT: dict[tuple[str, type[ast.stmt]], str] = {
    **{
        (kind, loop): BOUND
        for kind in (UNWRITTEN, ONLY, TIMES, MISSING)
        for loop in (ast.For, ast.While)
    },
    (MISSING, ast.Assign): INDEX,
    **{(kind, ast.If): TEST for kind in (UNWRITTEN, MISSING, SURPLUS, READS_OTHER)},
    (UNWRITTEN, ast.Assign): INDEX,
    (TIMES, ast.Assign): "wrong-formula",
    (MISSING, ast.AugAssign): SUM,
}


def code_of(fact: Fact, source: Source, line: int) -> str:
    """The code of a fact that is told at a line."""
    usual = TOLD[fact.kind][0]
    statement = _statement_at(source, line)
    if fact.kind == TIMES and fact.terms and fact.terms.kind == LAST:  # beyond the end once more
        return MASK if isinstance(statement, ast.Assign) else usual
    if fact.is_of_nothing:
        return BOUND if isinstance(statement, ast.For | ast.While) else SUM
    if fact.kind == MISSING and isinstance(statement, ast.Assign) and is_constant(statement.value):
        return SUM  # it is set to a number again
    if fact.kind == START and isinstance(statement, ast.Assign):
        return usual if is_constant(statement.value) else "wrong-formula"
    kind = type(statement)
    if isinstance(statement, ast.Assign) and source.heads_a_loop(
        statement
    ):  # it works out a loop's bound
        kind = ast.For
    code = BY_STATEMENT.get((fact.kind, kind), usual)  # type: ignore[arg-type]
    if isinstance(statement, ast.If) and asks_about_elements(statement.test, source.kernel):
        return "wrong-formula" if code == TEST else code
    return code


def _statement_at(source: Source, line: int) -> ast.stmt | None:
    """The innermost statement that begins at or above a line and ends at or below it."""
    around = [
        node
        for node in source.walk()
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def said_of(fact: Fact, letters: Mapping[str, str], output: str) -> tuple[Sentence, Sentence]:
    """A fact as a sentence, and a question; `letters` are the names that the exercise uses."""
    names = [letters.get(array, array) for array in fact.arrays]
    of = output if fact.kind == MOVED else names[0]
    facts = {
        "element": element(output, fact.element) if fact.element else output,
        "read": element(of, fact.read),
        "right": element(of, fact.right),
        "array": joined(names) if fact.kind != ALIAS else names[0],
        "other": names[-1],
        "terms": _terms_in_words(fact.terms),
        "factor": f"{fact.factor:.4g}",
    }
    _, sentence, question = TOLD[fact.kind]
    if fact.kind in (READS_OTHER, PAIRED) and not (fact.read and fact.right):
        sentence = "{element} uses the wrong elements of {array}."
    return say(sentence, **facts), say(question, **facts)


def _terms_in_words(terms: SumTerms | None) -> str:
    """The subject of a sentence about them, with its verb."""
    if terms is None:
        return "some of the terms are"
    kind, numbers = terms.kind, terms.numbers
    if kind in (FIRST, LAST):
        return f"the {kind} term is"
    if kind == FROM:
        return f"all terms from number {numbers[0]} on are"
    if kind == UP_TO:
        whole = numbers[0] == terms.of
        return "all terms are" if whole else f"the first {numbers[0]} terms are"
    if kind == STRETCH and numbers[1] - numbers[0] == 1:
        return f"term {numbers[0]} is"
    if kind == STRETCH:
        return f"terms {numbers[0]} to {numbers[1] - 1} are"
    if kind == EVERY:
        first, second, *more = range(numbers[0], terms.of, numbers[1])
        return f"terms {first}, {second}, … are" if more else f"terms {first} and {second} are"
    return "some of the terms are"
