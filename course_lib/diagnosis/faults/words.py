"""What is said of a fault that the emulator saw, and of its cause."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

FLOAT64 = "This makes {line} compute in float64, but the exercise asks for float32."

tell = Words(
    {
        # Threads that wait for each other, or for ever.
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
        # Cells that nobody fills.
        "filled here": Wording(
            "", "{seen} It is read at {read}. Only this line writes to {array}."
        ),
        "filled under a test": Wording(
            "",
            "{seen} It is read at {read}. This line fills {array}, but only where the test at "
            "{test} holds.",
        ),
        # Numbers of the wrong type, and rounding.
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
