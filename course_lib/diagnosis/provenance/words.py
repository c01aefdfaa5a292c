"""What a fact about wrong numbers is called and how it is told: code, sentence, question."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from course_lib.diagnosis.provenance.facts import Fact, FactKind, SumTerms
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import asks_about_elements, is_constant
from course_lib.wording.sentences import Sentence, say
from course_lib.wording.words import element, joined

# Of each kind of fact: the usual code, a sentence and a question.
TOLD: dict[FactKind, tuple[str, str, str]] = {
    "unwritten": (
        "incomplete-output",
        "{element} still holds what it held before the launch.",
        "Which thread should write {element}, and what does it do instead?",
    ),
    "not meant": (
        "wrong-index",
        "The kernel writes {element}, but it should stay as it was before the launch.",
        "Which thread writes {element}, and what should stop it?",
    ),
    "not finite": (
        "numerical-overflow",
        "{element} is not a finite number.",
        "Which step on the way to {element} has no finite result?",
    ),
    "moved": (
        "wrong-index",
        "{element} holds the result that belongs to {read}.",
        "Which thread stores {element}, and where does its number come from?",
    ),
    "reads other": (
        "wrong-index",
        "{element} was computed with {read} instead of {right}.",
        "Which index of {array} does the kernel use for {element}, and which one should it use?",
    ),
    "paired": (
        "wrong-index",
        "{element} combines the wrong elements of {array}: it was computed with {read} "
        "instead of {right}.",
        "Which two elements belong together in every step?",
    ),
    "alias": (
        "wrong-index",
        "The kernel uses {array} instead of {other}.",
        "Which array does each name refer to at this line?",
    ),
    "independent": (
        "wrong-formula",
        "{element} does not depend on any element of {array}.",
        "Which line should use {array} to compute {element}?",
    ),
    "missing": (
        "wrong-loop-bound",
        "In {element}, {terms} missing.",
        "For which steps does this line run, and for which steps should it run?",
    ),
    "only": (
        "accumulator-error",
        "{element} holds only a part of its sum: {terms} there, and the rest is missing.",
        "What happens to the sum from one step to the next?",
    ),
    "unused": (
        "wrong-bounds-check",
        "Nothing depends on {right}, but {element} should.",
        "Which thread should load {right}, and what keeps it from doing so?",
    ),
    "surplus": (
        "wrong-loop-bound",
        "{element} was computed with {read}, which does not belong there.",
        "Which step adds {read} to {element}?",
    ),
    "foreign": (
        "accumulator-error",
        "{element} was computed with {read}, which belongs to another sum.",
        "Which variable collects the sum of {element}, and when is it reset?",
    ),
    "times": (
        "accumulator-error",
        "In {element}, {terms} counted {factor} times.",
        "How often does each term reach {element}, and with which factor?",
    ),
    "weighted": (
        "wrong-formula",
        "{element} uses the right elements of {array}, but with the wrong weights.",
        "Work out {element} step by step. Where does the kernel depart from the formula?",
    ),
    "before": (
        "uninitialised-read",
        "{element} includes what {array} held before the launch.",
        "What does {array} hold when the kernel starts?",
    ),
    "start": (
        "accumulator-error",
        "{element} is off by {factor} even if all inputs are 0.",
        "What gets into {element} whatever the inputs are?",
    ),
}
INDEX, BOUND, TEST = "wrong-index", "wrong-loop-bound", "wrong-bounds-check"
SUM, MASK = "accumulator-error", "missing-mask"
# What the statement at the suspected line makes of it.
BY_STATEMENT: dict[tuple[FactKind, type[ast.stmt]], str] = {
    **{
        (kind, loop): BOUND
        for kind in ("unwritten", "only", "times", "missing", "independent")
        for loop in (ast.For, ast.While)
    },
    ("missing", ast.Assign): INDEX,
    **{(kind, ast.If): TEST for kind in ("unwritten", "missing", "surplus", "reads other")},
    ("unwritten", ast.Assign): INDEX,
    ("times", ast.Assign): "wrong-formula",
    ("missing", ast.AugAssign): SUM,
}


def code_of(fact: Fact, source: Source, line: int) -> str:
    """The code of a fact that is told at a line."""
    usual, statement = TOLD[fact.kind][0], source.at_line(line)
    is_assignment = isinstance(statement, ast.Assign)
    sets_a_number = isinstance(statement, ast.Assign) and is_constant(statement.value)
    if fact.kind == "times" and fact.terms and fact.terms.kind == "last":
        return MASK if is_assignment else usual  # beyond the end once more
    if fact.is_of_nothing:
        return BOUND if isinstance(statement, ast.For | ast.While) else SUM
    if fact.kind == "missing" and sets_a_number:  # again
        return SUM
    if fact.kind == "start" and is_assignment:
        return usual if sets_a_number else "wrong-formula"
    kind = type(statement)
    if is_assignment and statement and source.heads_a_loop(statement):
        kind = ast.For  # it works out a loop's bound
    code = BY_STATEMENT.get((fact.kind, kind), usual)  # type: ignore[arg-type]
    if isinstance(statement, ast.If) and asks_about_elements(statement.test, source.kernel):
        return "wrong-formula" if code == TEST else code
    return code


def said_of(fact: Fact, letters: Mapping[str, str], output: str) -> tuple[Sentence, Sentence]:
    """A fact as a sentence, and a question; `letters` are the names that the exercise uses."""
    names = [letters.get(array, array) for array in fact.arrays]
    of = output if fact.kind == "moved" else names[0]
    facts = {
        "element": element(output, fact.element) if fact.element else output,
        "read": element(of, fact.read),
        "right": element(of, fact.right),
        "array": joined(names) if fact.kind != "alias" else names[0],
        "other": names[-1],
        "terms": _terms_in_words(fact.terms),
        "factor": f"{fact.factor:.4g}",
    }
    _, sentence, question = TOLD[fact.kind]
    if fact.kind in ("reads other", "paired") and not (fact.read and fact.right):
        sentence = "{element} uses the wrong elements of {array}."
    return say(sentence, **facts), say(question, **facts)


def _terms_in_words(terms: SumTerms | None) -> str:
    """The subject of a sentence about them, with its verb."""
    if terms is None:
        return "some of the terms are"
    kind, numbers = terms.kind, terms.numbers
    if kind in ("first", "last"):
        return f"the {kind} term is"
    if kind == "from":
        return f"all terms from number {numbers[0]} on are"
    if kind == "up to":
        whole = numbers[0] == terms.of
        return "all terms are" if whole else f"the first {numbers[0]} terms are"
    if kind == "stretch" and numbers[1] - numbers[0] == 1:
        return f"term {numbers[0]} is"
    if kind == "stretch":
        return f"terms {numbers[0]} to {numbers[1] - 1} are"
    if kind == "every":
        first, second, *more = range(numbers[0], terms.of, numbers[1])
        return f"terms {first}, {second}, … are" if more else f"terms {first} and {second} are"
    return "some of the terms are"
