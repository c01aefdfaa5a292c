"""What is said of a fault that the emulator saw, and of its cause."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

# Of a test, for one thread: each clause, several of them, and what joins them.
CLAUSE, BEFORE_ANOTHER = "{clause} is {truth}{numbers}", "{clause},"
JOINED = "{clauses}, joined by `{joint}`"
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
        "one number for two threads": Wording(
            "",
            "{seen} In both threads, {name} is {number} after {line}.",
            "Which {name} should each of these two threads have?",
        ),
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
        # Accesses outside an array.
        "number as an index": Wording(
            "", "", "Which element should this line access? Indices count from 0."
        ),
        "all threads have work": Wording(
            "",
            "",
            "There is an element for every thread here. Which element belongs to this thread?",
        ),
        "from where to where": Wording(
            "",
            "",
            "What is the index in the very first thread, and what is it in the very last thread?",
        ),
        "index by itself": Wording(
            "",
            "",
            "{index} is {number} in this thread. What should it be in the first thread, "
            "and what in the last?",
        ),
        "on another axis": Wording(
            "wrong-index",
            "In {access}, {index} is used along an axis of a different length: {seen}",
            "How far does {index} go, and which axis of {array} has that length?",
        ),
        "goes too far": Wording(
            "wrong-index",
            "The index {index} {goes}. {seen}",
            "Work out {index} by hand for the second tile or block.",
        ),
        "goes too far by itself": Wording(
            "wrong-index",
            "The index {index} {goes}. {seen} The tests are right to let this thread pass, "
            "because it has an element of {output}.",
            "What is {index} in this thread, and what should it be?",
        ),
        "leaves": Wording(
            "wrong-index",
            "The index {index} leaves the array: {seen}",
            "Which element belongs to the last step, and which one does {index} select?",
        ),
        # Loops that run too far.
        "past the end of a tile": Wording(
            "wrong-loop-bound",
            "The loop runs past the end of the tile: {seen}",
            "What is the last value that the loop over the tile reaches?",
        ),
        "past the end": Wording(
            "wrong-loop-bound",
            "The loop runs past the end: {seen}",
            "What is the last value that this loop reaches?",
        ),
        "several steps at a time": Wording(
            "wrong-loop-bound",
            "The loop takes several steps at a time, and the last ones run past the end: {seen}",
            "What is k in the last iteration, and how many steps are left then?",
        ),
        "too long": Wording(
            "wrong-loop-bound",
            "The loop runs too far: {seen}",
            "What is {variable} in the last iteration, and how many steps should there be?",
        ),
        "too long, or not tested": Wording(
            "wrong-loop-bound",
            "The loop runs too far: {seen}",
            "What is {variable} in the last iteration? Should the loop end earlier, or should "
            "{line} be skipped then?",
        ),
        "too early": Wording(
            "wrong-loop-bound",
            "{counter} has already grown when {line} uses it: {seen}",
            "Which {counter} does the first iteration use, and which one does the last use?",
        ),
        # Tests that let the wrong threads pass.
        "test of something else": Wording(
            "wrong-bounds-check",
            "This test does not check {index}. At {line}, {seen}",
            "Which test should stop this thread, since its element does not exist?",
        ),
        "test of something else, here": Wording(
            "wrong-bounds-check",
            "The test here does not check {index}: {seen}",
            "Which test should stop this thread, since its element does not exist?",
        ),
        "test passed": Wording(
            "wrong-bounds-check",
            "This test lets the thread pass. At {line}, {seen}",
            "Take the thread named here. Which of its indices should have stopped it?",
        ),
        "test passed, worked out": Wording(
            "wrong-bounds-check",
            "At {line}, {seen} For this thread {clauses}.",
            "Take the thread named here. Which of its indices should have stopped it?",
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
