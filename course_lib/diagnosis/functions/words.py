"""What is said of a plain function, and how its calls are written."""

from __future__ import annotations

from course_lib.devices.number_formats import in_hexadecimal, is_bit_pattern
from course_lib.diagnosis.functions.function_calls import Call
from course_lib.emulator import Record
from course_lib.emulator.plain.values import kind_of
from course_lib.wording.sentences import Sentence, say
from course_lib.wording.tables import Wording, Words
from course_lib.wording.words import shortened

LONGEST = 40  # characters of a number
MOST_BY_PLACE = 3  # arguments of a call that need no names
INTEGER = "What does // do that / does not do?"
PENCIL = "Work out this one call with a pencil."
BITS = "Each digit after 0x is four bits. Which bits are not yet right?"
# Of a call that was drawn for grading, which is nobody's to know.
NO_RESULT = "For a call that was drawn for grading, it returns no result."
WRONG_RESULT = "A call that was drawn for grading gives a wrong result"
tell = Words(
    {
        # Before it is called.
        "parameters": Wording(
            "missing-answer",
            "The function takes ({own_parameters}), but {what} asks for {signature}.",
            "Compare the parameters.",
        ),
        "empty": Wording(
            "missing-answer",
            "The function is still empty: it returns nothing.",
            "What should it return for the smallest case that you can think of?",
        ),
        # What comes out of it.
        "printed": Wording(
            "missing-answer",
            "The number is printed, but nothing is returned.",
            "What can a caller do with a number that is only printed?",
        ),
        "nothing returned": Wording(
            "missing-answer",
            "The function computes something, but returns nothing.",
            "What does the last line do with the result?",
        ),
        "no return": Wording("wrong-formula", "{compared}.", "Does every path end in a `return`?"),
        "no number": Wording(
            "wrong-formula", "{compared}.", "What kind of value should it return?"
        ),
        "no int": Wording("wrong-formula", "{compared}, an int.{worked}", INTEGER),
        "unexplained": Wording("wrong-result", "{compared}.{worked}", PENCIL),
        "unexplained bits": Wording("wrong-result", "{compared}.", BITS),
        "no hint": Wording("", "", "What is the value of each part of this line in this call?"),
        "refused": Wording(
            "invalid-launch",
            "{compared}, because a GPU refuses this launch.{worked}",
            "Which calls must return 0, even if something would fit?",
        ),
        # Of numbers that are an answer by themselves.
        "no value": Wording("missing-answer", "{name} has no value yet.", "What is {name}?"),
        "value no number": Wording(
            "wrong-formula",
            "{name} is {value}, but it has to be a number.",
            "What is counted here?",
        ),
        "not right": Wording(
            "wrong-formula",
            "{name} is {value}, which is not right.",
            "Work it out once more, with a pencil.",
        ),
        # What it means, put into one of the two at the end.
        "wrong idea": Wording("wrong-formula", "{says}", "{hint}"),
        "edit": Wording("wrong-formula", "{says}", "{hint}"),
        "one number": Wording(
            "hardcoded-answer",
            "every call returns the same number",
            "How should it depend on {parameters}?",
        ),
        "explained": Wording("", "{compared}: {seen}.{worked}"),
        "mended": Wording("", "{compared}. One change here would make it right: {seen}.{worked}"),
    }
)


def stopped(shown: Call) -> Sentence:
    """Where Python stops, and in which call; of a drawn one, nobody reads either.

    What it stops with may carry the numbers out. What the checker cannot run becomes a reason in
    the gradebook, so there not even the teacher reads them.
    """
    assert shown.stopped is not None
    if shown.drawn and shown.stopped.code == "unsupported":
        return say("The checker cannot run this line for one of the calls that were drawn.")
    return say(
        "{seen} This happened in {call}.",
        graded=NO_RESULT if shown.drawn else "",
        seen=shown.stopped.message,
        call=written(shown),
    )


def compared(shown: Call) -> Sentence:
    """What came out of a call beside what is right; of a drawn one, only that it is wrong."""
    return say(
        "{call} returns {value}, but should return {wanted}",
        graded=WRONG_RESULT if shown.drawn else "",
        call=written(shown),
        value=_number(shown.value, shown.wanted),
        wanted=_number(shown.wanted),
    )


def worked(shown: Call) -> str:
    """How the right number comes about, as further sentences."""
    said = shown.refused[1] if shown.refused else shown.table.worked(shown.arguments, shown.number)
    return say(" {worked}", worked=said) if said else ""


def written(shown: Call) -> str:
    """The call as it stands in a program: "sectors(2, 0)"; many arguments have their names."""
    entry, arguments = shown.table.entry, [in_a_call(argument) for argument in shown.arguments]
    if len(arguments) > MOST_BY_PLACE:
        named = zip(entry.parameters, arguments, strict=True)
        arguments = [f"{name}={argument}" for name, argument in named]
    return f"{entry.id}({', '.join(arguments)})"


def in_a_call(argument: object) -> str:
    """An argument; a record by the name that it has."""
    return argument.values["name"] if isinstance(argument, Record) else repr(argument)


def _number(value: object, beside: object = None) -> str:
    if value is None:
        return "nothing"
    if type(value) is int and (is_bit_pattern(value) or is_bit_pattern(beside)):
        return in_hexadecimal(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return shortened(repr(value), LONGEST) if is_number else kind_of(value)
