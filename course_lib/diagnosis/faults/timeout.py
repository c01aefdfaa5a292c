"""A kernel that took more steps than it had: the loop that took them."""

from __future__ import annotations

from dataclasses import replace

from course_lib.emulator import OpenLoop
from course_lib.findings import Finding
from course_lib.sentences import Line, say


def explain_timeout(each: Finding, loop: OpenLoop | None, budget: str) -> Finding:
    """A kernel that took more than its budget, at the line of the loop that took it.

    A `while` may never end. A `for` does: there, it turns too often, or too few threads share the
    work; which of the two it is cannot be told from the steps.
    """
    if loop is None:
        return replace(each, message=say("The kernel needs more than {budget}.", budget=budget))
    if loop.ends:
        message = say(
            "The kernel needs more than {budget}; it was last in the loop of {line}, in iteration "
            "{turns}. Either the loop makes too many iterations, or too few threads share the "
            "work.",
            budget=budget,
            line=Line(loop.line),
            turns=f"{loop.turns:,}",
        )
    else:
        message = say(
            "The loop in {line} does not end within {budget}.", line=Line(loop.line), budget=budget
        )
    return replace(each, line=loop.line, message=message)


def with_elements(each: Finding, count: int, most: int, output: str) -> Finding:
    """The same with how many elements a thread had computed, if that is more than it may."""
    if not most or count <= most:
        return each
    message = say(
        "{seen} By then one thread had computed {count} elements of {output}; the exercise asks "
        "for at most {most} from each.",
        seen=each.message,
        count=count,
        output=output,
        most="one" if most == 1 else most,
    )
    hint = "Which one element belongs to this thread, and who computes the one beside it?"
    return replace(each, message=message, hint=hint)
