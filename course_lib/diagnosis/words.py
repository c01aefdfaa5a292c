"""What is said of an answer as a whole: how it is written, launched, and what its numbers show."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

BUDGET_OF_ALL = "the {steps} steps of all launches together"
BUDGET_OF_ONE = "the {steps} steps of this launch"
WRONG = "Wrong on {sizes}, in {place}.{unwritten}"
NEVER_WRITTEN = " Never written: {where}."
WHICH_ELEMENT = "Which element of {output} belongs to this thread?"
ANOTHER_MEANING = (
    "This gives the name {output} another meaning, for one thread; the array {output} stays as it "
    "was."
)
SINGLE_ELEMENTS = "Which elements does this thread need, and which one does it write?"
WHOLE_ARRAYS = (
    "{said} works on whole arrays, and every thread would do all of it; a thread of a kernel works "
    "on single elements."
)
MEND = "What has to stand in the line above `def {name}`, so that Numba makes it a kernel?"
START = "Start with the index of the element that one thread works on."
WHOLE = "Which `//`, cast, variable or array makes whole numbers here?"

tell = Words(
    {
        # An answer that is not there yet.
        "returned": Wording(
            "missing-answer",
            "A kernel returns nothing: its result has to be written into {output}.",
            WHICH_ELEMENT,
        ),
        "rebound": Wording("missing-answer", ANOTHER_MEANING, WHICH_ELEMENT),
        "compared": Wording(
            "missing-answer",
            "This line compares and stores nothing.",
            "A single = stores what stands on its right. Where should it go?",
        ),
        "empty": Wording("missing-answer", "{kernel} is still empty: it writes nothing.", START),
        "no store": Wording(
            "missing-answer",
            "{kernel} writes no element of {output}.",
            "Which line should write a number into {output}?",
        ),
        "other parameters": Wording(
            "invalid-launch",
            "{kernel} takes ({own_parameters}); the exercise calls {signature}.",
            "Compare the parameters.",
        ),
        # What the source alone shows.
        "device function": Wording(
            "invalid-launch",
            "{name} is a device function (device=True): kernels can call it, but it cannot be "
            "launched. @cuda.jit alone makes it a kernel.",
            MEND,
        ),
        "for the processor": Wording(
            "invalid-launch",
            "{name} is compiled for the processor, not for the GPU: it cannot be launched. "
            "@cuda.jit makes it a kernel.",
            MEND,
        ),
        "plain function": Wording(
            "invalid-launch",
            "{name} is a plain Python function: without @cuda.jit above it, there is no kernel "
            "that a GPU could launch.",
            MEND,
        ),
        "value returned": Wording(
            "compile-error",
            "A kernel returns nothing, and Numba refuses one that does: the result has to be "
            "written into {output}.",
            WHICH_ELEMENT,
        ),
        "output rebound": Wording("incomplete-output", ANOTHER_MEANING, WHICH_ELEMENT),
        "result dropped": Wording(
            "wrong-formula",
            "{function} changes none of its arguments: it returns its result, and here nobody "
            "keeps it.",
            "Which variable should hold what this call returns?",
        ),
        "whole arrays": Wording("unsupported", WHOLE_ARRAYS, SINGLE_ELEMENTS),
        "whole arrays, refused": Wording("compile-error", WHOLE_ARRAYS, SINGLE_ELEMENTS),
        "barrier not called": Wording(
            "",
            "{name} is only named here, and not called: without () no thread waits. {seen}",
            "How does Python tell the name of a function from a call of it?",
        ),
        "needless barrier not called": Wording(
            "excess-barriers",
            "{name} is only named here, and not called: without () no thread waits. Nothing is "
            "lost here without it.",
            "Is it needed?",
        ),
        # Launches.
        "no launch": Wording(
            "invalid-launch",
            "No launch is possible: {said}.",
            "Which of your constants gives the size of the block?",
        ),
        "giant tile": Wording(
            "invalid-launch",
            "Here a block computes a tile of {shape}: that is too large.",
            "Which of your constants gives the size of the tile, and how large is it?",
        ),
        "seen on": Wording("", "{seen} Seen on {launch}."),
        # What launches show.
        "one block": Wording(
            "incomplete-output",
            "Only block (0, 0) writes: all others leave their part of {letter} as it was.",
            "What keeps the threads of the other blocks from the line that stores?",
        ),
        "independent of input": Wording(
            "hardcoded-answer",
            "{array} does not depend on {inputs}: other inputs give the same output.",
            "Which line carries a value from {inputs} to {array}?",
        ),
        "stale": Wording(
            "stale-shared-read",
            "Wrong on {sizes}: thread {thread} reads {cell} at {line}, which still holds the value "
            "of an earlier tile.",
            "What does a thread put into the tile when it stands outside of {inputs}?",
        ),
        "wrong": Wording("wrong-result", WRONG, "Work out that one element by hand, step by step."),
        "wrong but for block 0": Wording(
            "wrong-result",
            WRONG,
            "Block 0 is right, and no other. Where does cuda.blockIdx come in, and how far?",
        ),
        "written input": Wording(
            "wrong-index",
            "{name} is an input, and the kernel writes into it.",
            "Which array should hold the result of {formula}?",
        ),
        "overwritten on a GPU": Wording(
            "out-of-bounds-write",
            "On your GPU, at {sizes}, memory beside {name} was overwritten.",
            "Which index of {name} can leave it?",
        ),
        "wrong on a GPU": Wording(
            "wrong-result",
            "On your GPU, at {sizes}, {where} is wrong. The emulator found nothing at smaller "
            "sizes.",
            "Does anything depend on the size of the problem, or on the order of the threads?",
        ),
        # What numbers show by themselves.
        "nothing written": Wording(
            "incomplete-output",
            "{array} was never written: every element still holds what was there before the "
            "launch.",
        ),
        "a part not written": Wording(
            "incomplete-output",
            "What was written is right, but a part of {array} was never written: {place}.",
        ),
        "wrong at zeros": Wording(
            "wrong-formula",
            "Right but {place}.",
            "What does each line make of an element of {letter} that is exactly 0?",
        ),
        "not a number": Wording(
            "numerical-overflow",
            "{name} is {value} although every number in {operands} is finite: a step had no number "
            "to give, as 0 / 0, ∞ / ∞ and ∞ − ∞ have none.",
            "Which step can meet an infinity, or divide 0 by 0?",
        ),
        "minus infinity": Wording(
            "numerical-overflow",
            "{name} is {value} although every number in {operands} is finite: a value grew past "
            "its type, was divided by zero, or is the logarithm of 0.",
            "Which step can give −∞? Has anything been added up before it?",
        ),
        "infinity": Wording(
            "numerical-overflow",
            "{name} is {value} although every number in {operands} is finite: a value grew past "
            "its type, or something was divided by zero.",
            "Which step can make a number that large?",
        ),
        "fractions": Wording(
            "integer-arithmetic",
            "{array} equals the right formula with the fractions {verb} {place}.",
            WHOLE,
        ),
        "whole numbers": Wording("integer-arithmetic", "{array} holds whole numbers only.", WHOLE),
        # Causes of wrong numbers.
        "other numbers": Wording("wrong-formula", "{output} holds other numbers: {says}."),
        "shows elsewhere": Wording("", "{seen} That shows at {line}."),
        "one change": Wording("", "{seen} With one change here it would be right: {says}."),
        "unexplained": Wording("", "{seen} Nothing that was tried explains the numbers."),
        "unexplained fact": Wording(
            "", "{seen} {fact} Nothing that was tried explains the numbers."
        ),
    }
)
