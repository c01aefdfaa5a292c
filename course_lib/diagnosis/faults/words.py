"""What is said of a fault that the emulator saw, and of its cause."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

FLOAT64 = "This makes {line} compute in float64, but the exercise asks for float32."

tell = Words(
    {
        # Threads that wait for each other, or for ever.
        "number overwritten by a loop": Wording(
            "wrong-index",
            "Since {made}, {name} has been the thread's own number. This loop counts with "
            "{name} and overwrites that number, but {used} still needs it.",
            "What is {name} in this thread after the first iteration of the loop?",
        ),
        "parted": Wording("", "{seen} {line} sends these threads down different paths."),
        "buffers in turns": Wording(
            "", "", "In one iteration, which buffer is filled, and which one is read?"
        ),
        "one of several buffers": Wording(
            "", "", "Is this the buffer that {line} reads in this iteration? Which one is free?"
        ),
        "out of steps": Wording("", "The kernel needs more than {budget}."),
        "out of steps in a loop": Wording(
            "",
            "The kernel needs more than {budget}. When it was stopped, it was in the loop of "
            "{line}, in iteration {turns}. Either the loop makes too many iterations, or too few "
            "threads share the work.",
        ),
        "loop without an end": Wording("", "The loop in {line} does not end within {budget}."),
        "many elements by then": Wording(
            "",
            "{seen} By then one thread had computed {count} elements of {output}, but the "
            "exercise asks for at most {most} per thread.",
            "Which single element belongs to this thread, and which thread computes the element "
            "beside it?",
        ),
        # Cells that nobody fills.
        "filled here": Wording(
            "", "{seen} It is read at {read}. Only this line writes to {array}."
        ),
        "filled under a test": Wording(
            "",
            "{seen} It is read at {read}. This line fills {array}, but only where the test at "
            "{test} holds.",
        ),
        # Accesses of several neighbours by a flat index.
        "rows of another length": Wording(
            "",
            "{seen} The index assumes rows of {taken} elements, but a row of {array} has {length}.",
            "At which flat index does row 1 of {array} begin?",
        ),
        "given line": Wording(
            "", "At {at}, {seen}", "What is {names} in this thread, and what should it be?"
        ),
        "given line, of several": Wording(
            "", "At {at}, {seen}", "What are {names} in this thread, and what should they be?"
        ),
        # Numbers of the wrong type, and rounding.
        "narrow index": Wording(
            "index-overflow",
            "An index of type {kind} wraps around if the array is too long for that type.",
            "What is the largest number that {kind} can hold?",
        ),
        "float64": Wording("", FLOAT64),
        "float64 in an array": Wording(
            "",
            FLOAT64,
            "What type are the elements of this array, and what type are the elements of A?",
        ),
        "rounding": Wording(
            "wrong-result",
            "The result, or its cost, depends on how products are rounded. A GPU may "
            "multiply and add with a single rounding.",
            "Does a test ask whether two numbers are equal, although they may differ by rounding?",
            "error",
        ),
    }
)
