"""What is said of an answer as a whole: how it is written, launched, and what its numbers show."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

BUDGET_OF_ALL = "the {steps} steps of all launches together"
BUDGET_OF_ONE = "the {steps} steps of this launch"
WRONG = "The result is wrong{seen_on} in {place}.{unwritten}"
SEEN_ON = " on {sizes},"  # where sizes vary
NEVER_WRITTEN = " This part was never written: {where}."
WHICH_ELEMENT = "Which element of {output} belongs to this thread?"
ANOTHER_MEANING = (
    "This line only gives the name {output} a new meaning within one thread. The array {output} "
    "does not change."
)
SINGLE_ELEMENTS = "Which elements does this thread need, and which one does it write?"
WHOLE_ARRAYS = (
    "{said} works on whole arrays, so every thread would do all of the work. In a kernel, a "
    "thread works on single elements."
)
MEND = "What has to be in the line above `def {name}` for Numba to make it a kernel?"
START = "Start with the index of the element that one thread works on."
WHOLE = "Which `//`, cast, variable or array turns fractions into whole numbers here?"
LIMIT = "The number {number} acts as a limit here, but it does not depend on any size."
BEYOND = "What does the kernel leave out, or do twice, when a size is larger than {number}?"
USUAL = (
    "The {number} in this line is right only if {axis} is {usual}. If it is "
    "{other}, the result is wrong in {part}."
)
ANY_SIZE = "What could replace this number, so that any size works?"
FLOAT64 = "This makes {line} compute in float64, but the exercise asks for float32."

tell = Words(
    {
        # An answer that is not there yet.
        "returned": Wording(
            "missing-answer",
            "A kernel cannot return a result. It has to write the result into {output}.",
            WHICH_ELEMENT,
        ),
        "rebound": Wording("missing-answer", ANOTHER_MEANING, WHICH_ELEMENT),
        "compared": Wording(
            "missing-answer",
            "This line only compares two values. It stores nothing.",
            "A single = stores the value on its right. Where should the value go?",
        ),
        "empty": Wording("missing-answer", "{kernel} is still empty: it writes nothing.", START),
        "only a variable": Wording(
            "missing-answer",
            "This line only gives the variable {name} a value, and each thread has its own {name}. "
            "The kernel stores nothing in {output}.",
            WHICH_ELEMENT,
        ),
        "no store": Wording(
            "missing-answer",
            "{kernel} writes no element of {output}.",
            "Which line should write a number into {output}?",
        ),
        "other parameters": Wording(
            "invalid-launch",
            "{kernel} takes ({own_parameters}), but the exercise calls {signature}.",
            "Compare the parameters.",
        ),
        # What the source alone shows.
        "device function": Wording(
            "invalid-launch",
            "{name} is a device function (device=True). Kernels can call it, but you "
            "cannot launch it. @cuda.jit alone makes it a kernel.",
            MEND,
        ),
        "for the processor": Wording(
            "invalid-launch",
            "{name} is compiled for the processor and not for the GPU, so you cannot "
            "launch it. @cuda.jit makes it a kernel.",
            MEND,
        ),
        "plain function": Wording(
            "invalid-launch",
            "{name} is a plain Python function. Without @cuda.jit above it, there is no "
            "kernel that a GPU could launch.",
            MEND,
        ),
        "value returned": Wording(
            "compile-error",
            "Numba refuses a kernel that returns a value. The kernel has to write its "
            "result into {output}.",
            WHICH_ELEMENT,
        ),
        "output rebound": Wording("incomplete-output", ANOTHER_MEANING, WHICH_ELEMENT),
        "whole arrays": Wording("unsupported", WHOLE_ARRAYS, SINGLE_ELEMENTS),
        "whole arrays, refused": Wording("compile-error", WHOLE_ARRAYS, SINGLE_ELEMENTS),
        "barrier not called": Wording(
            "",
            "{name} is only named here and not called. Without () no thread waits. {seen}",
            "How does Python tell the name of a function from a call of it?",
        ),
        "needless barrier not called": Wording(
            "excess-barriers",
            "{name} is only named here and not called. Without () no thread waits. But you "
            "need no barrier here.",
            "Is a barrier needed here at all?",
        ),
        # Launches.
        "no launch": Wording(
            "invalid-launch",
            "No launch is possible: {said}.",
            "Which of your constants gives the size of the block?",
        ),
        "giant tile": Wording(
            "invalid-launch",
            "A block computes a tile of {shape} here, which is too large.",
            "Which of your constants gives the size of the tile, and how large is it?",
        ),
        "seen on": Wording("", "{seen} This happened on {launch}."),
        # What launches show.
        "independent of input": Wording(
            "hardcoded-answer",
            "{array} does not depend on {inputs}. Other inputs give the same output.",
            "Which line carries a value from {inputs} to {array}?",
        ),
        "stale": Wording(
            "stale-shared-read",
            "On {sizes}, thread {thread} reads {cell} at {line}, but the cell still holds the "
            "value of an earlier tile.",
            "What does a thread put into the tile when its element is outside {inputs}?",
        ),
        "wrong": Wording("wrong-result", WRONG, "Work out this one element by hand, step by step."),
        "written input": Wording(
            "wrong-index",
            "{name} is an input, but the kernel writes into it.",
            "Which array should hold the result of {formula}?",
        ),
        "overwritten on a GPU": Wording(
            "out-of-bounds-write",
            "On your GPU, with {sizes}, the kernel overwrote memory next to {name}.",
            "Which index of {name} can leave the array?",
        ),
        "wrong on a GPU": Wording(
            "wrong-result",
            "On your GPU, with {sizes}, {where} is wrong. The emulator found nothing wrong with "
            "smaller sizes.",
            "Does anything depend on the size of the problem or on the order of the threads?",
        ),
        # What numbers show by themselves.
        "unwritten part": Wording(
            "", "{seen} In that launch, this part was never written: {where}."
        ),
        "not a number": Wording(
            "numerical-overflow",
            "{name} is {value}, although every number in {operands} is finite. Some step "
            "has no defined result, such as 0 / 0, ∞ / ∞ or ∞ − ∞.",
            "Which step can get an infinity as input, or divide 0 by 0?",
        ),
        "minus infinity": Wording(
            "numerical-overflow",
            "{name} is {value}, although every number in {operands} is finite. A value "
            "overflowed its type, was divided by zero, or is the logarithm of 0.",
            "Which step can give −∞? Has anything been added up before that step?",
        ),
        "infinity": Wording(
            "numerical-overflow",
            "{name} is {value}, although every number in {operands} is finite. Either a "
            "value overflowed its type, or something was divided by zero.",
            "Which step can give such a large number?",
        ),
        "fractions": Wording(
            "integer-arithmetic",
            "{array} would be right, but the fractions are {verb} {place}.",
            WHOLE,
        ),
        "whole numbers": Wording("integer-arithmetic", "{array} holds whole numbers only.", WHOLE),
        # Causes of wrong numbers.
        "other numbers": Wording("wrong-formula", "{output} holds the wrong numbers: {says}."),
        "shows elsewhere": Wording("", "{seen} The effect becomes visible at {line}."),
        "one change": Wording("", "{seen} One change here would make it right: {says}."),
        "one change for a cost": Wording("", "{seen} One change here would avoid this: {says}."),
        "unexplained": Wording("", "{seen} The checker found no explanation for these numbers."),
        # --- A number in an answer that stands for a size, or limits one. ---
        "loop": Wording(
            "wrong-loop-bound",
            "This loop makes at most {number} {noun}, no matter how large the problem is.",
            "How many iterations does a larger problem need?",
        ),
        "axis": Wording(
            "wrong-bounds-check",
            "This array has room for {number} elements along one axis, no matter how large "
            "the problem is.",
            "What happens to the elements that do not fit?",
        ),
        "lanes": Wording(
            "wrong-index",
            "This expression gives only {number} different indices, however large the sizes are.",
            "Which thread takes element {number}, counted from 0?",
        ),
        "cast": Wording(
            "index-overflow",
            "This type holds only numbers below {number}, but the index grows larger.",
            "How large can the number that is converted here become?",
        ),
        "wrap": Wording(
            "wrong-index",
            "This value wraps around at {number}, but {number} does not depend on any size.",
            BEYOND,
        ),
        "test": Wording("wrong-bounds-check", LIMIT, BEYOND),
        "test of a loop": Wording("wrong-loop-bound", LIMIT, BEYOND),
        # What comes of such a limit.
        "wrong beyond": Wording("", "{seen} The result is wrong on {label}, in {place}."),
        "no room": Wording("", "{what} {seen}"),
        "not tried": Wording("", "{seen} Nothing longer than {label} was tried.", "", "warning"),
        # A number that is right for the usual size alone.
        "size in a test": Wording("wrong-bounds-check", USUAL, ANY_SIZE),
        "size in a loop": Wording("wrong-loop-bound", USUAL, ANY_SIZE),
        "size somewhere": Wording(
            "wrong-result",
            "The result is right if {axis} is {usual}. If it is {other}, the result is "
            "wrong in {part}.",
            "Which number in the kernel is right only for this size?",
        ),
        # --- A fault that the emulator saw, and its cause. ---
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
