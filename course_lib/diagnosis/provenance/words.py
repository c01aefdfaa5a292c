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
    UNWRITTEN,
    UP_TO,
    WEIGHTED,
    Fact,
    SumTerms,
)
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import is_constant
from course_lib.wording.sentences import Sentence, say
from course_lib.wording.words import element, joined

# Of each kind of fact: the usual code, a sentence and a question.
TOLD: dict[str, tuple[str, str, str]] = {
    UNWRITTEN: (
        "incomplete-output",
        "{element} is as it was before the launch.",
        "Which thread should write {element}, and what does it do instead?",
    ),
    NOT_MEANT: (
        "wrong-index",
        "{element} is written, and should stay as it was before the launch.",
        "Which thread writes {element}, and what should keep it from that?",
    ),
    NOT_FINITE: (
        "numerical-overflow",
        "{element} is no ordinary number.",
        "Which step on the way to {element} has no number to give?",
    ),
    MOVED: (
        "wrong-index",
        "{element} holds what belongs to {read}.",
        "Which thread stores {element}, and from where does its number come?",
    ),
    READS_OTHER: (
        "wrong-index",
        "In {element}, {read} takes part where {right} should.",
        "Which index of {array} is worked out for {element}, and which one should be?",
    ),
    PAIRED: (
        "wrong-index",
        "In {element}, the elements of {array} meet others than they should: {read} stands where "
        "{right} should.",
        "Which two elements belong together in every step?",
    ),
    ALIAS: (
        "wrong-index",
        "Where {other} belongs, {array} stands.",
        "Which array does each name stand for at this line?",
    ),
    INDEPENDENT: (
        "wrong-formula",
        "No element of {array} takes part in {element}.",
        "Which line carries {array} into {element}?",
    ),
    MISSING: (
        "wrong-loop-bound",
        "In {element}, {terms} missing.",
        "For which steps does this run, and for which should it?",
    ),
    ONLY: (
        "accumulator-error",
        "Of the sum in {element}, {terms} all that is left.",
        "What happens to the sum from one step to the next?",
    ),
    SURPLUS: (
        "wrong-loop-bound",
        "{read} takes part in {element}, and should not.",
        "Which step adds {read} to {element}?",
    ),
    FOREIGN: (
        "accumulator-error",
        "{read} takes part in {element}, and belongs to another sum.",
        "In which variable is the sum of {element} collected, and for how long?",
    ),
    TIMES: (
        "accumulator-error",
        "In {element}, {terms} counted {factor} times.",
        "How often does each term reach {element}, and with which factor?",
    ),
    WEIGHTED: (
        "wrong-formula",
        "What takes part in {element} is right, but not how much each element of {array} counts.",
        "Work out {element} step by step: where does it leave the formula?",
    ),
    BEFORE: (
        "uninitialised-read",
        "What {array} held before the launch takes part in {element}.",
        "What does {array} hold when the kernel starts?",
    ),
    START: (
        "accumulator-error",
        "{element} is off by {factor} where all inputs are 0, too.",
        "What reaches {element} whatever the inputs are?",
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
    return BY_STATEMENT.get((fact.kind, type(statement)), usual)  # type: ignore[arg-type]


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
        sentence = "In {element}, other elements of {array} take part than should."
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
    if kind == STRETCH:
        return f"terms {numbers[0]} to {numbers[1] - 1} are"
    if kind == EVERY:
        first, second, *more = range(numbers[0], terms.of, numbers[1])
        return f"terms {first}, {second}, … are" if more else f"terms {first} and {second} are"
    return "some of the terms are"
