"""What is said of answers that are a few numbers."""

from __future__ import annotations

from course_lib.diagnosis.told import Wording, Words

REGISTERS = "{TM} · {TN} sums + {TM} + {TN} operands + {overhead} others = {registers} registers"
LEFT_OVER = "{each} for each, with {left} left over"
NONE_FOR_SOME = "{idle} of the threads get none"

tell = Words(
    {
        "no value": Wording("missing-answer", "{name} has no value yet.", "What is {name}?"),
        "no number": Wording(
            "wrong-formula",
            "{name} is {value}, but it has to be a number.",
            "What is counted here?",
        ),
        "not right": Wording(
            "wrong-formula",
            "{name} is {value}, which is not right.",
            "Work it out once more, with a pencil.",
        ),
        "sizes missing": Wording(
            "missing-answer",
            "There is no {missing}.",
            "The exercise asks for five numbers: {parameters}.",
        ),
        "sizes unclear": Wording(
            "missing-answer",
            "{names} cannot be read as a number here.",
            "The exercise asks for five numbers: {parameters}.",
        ),
        "no whole number": Wording(
            "compile-error",
            "{name} is {value}, but the size of a tile is a whole number.",
            "Division with // gives a whole number.",
        ),
        "no size": Wording(
            "invalid-launch",
            "{name} is {value}, but the size of a tile is at least 1 (and at most {most}).",
        ),
        "rest of a tile": Wording(
            "incomplete-output",
            "{block} = {size} {what} are divided into groups of {thread} = {part}: that makes "
            "{whole} threads, and {rest} {what} belong to none.",
            "{thread} has to divide {block}.",
        ),
        "too many threads": Wording(
            "invalid-launch",
            "{BM}/{TM} × {BN}/{TN} = {rows} × {columns} = {threads} threads, but a block has at "
            "most {most}.",
            "What has to grow so that fewer threads compute the same tile?",
        ),
        "too much shared memory": Wording(
            "invalid-launch",
            "4 · {BK} · ({BM} + {BN}) = {shared_bytes} bytes of shared memory, but a block on the "
            "{device} has at most {most}.",
            "Which size costs shared memory without changing the intensity?",
        ),
        "too many registers": Wording(
            "invalid-launch",
            "{estimate}, but a thread has at most {most}.",
            "Every output of a thread is a sum, and every sum lives in a register.",
        ),
        "too many registers together": Wording(
            "invalid-launch",
            "{estimate} for each of {threads} threads. {why_not}",
            "Every output of a thread is a sum, and every sum lives in a register.",
        ),
        "uneven loads": Wording(
            "wrong-loop-bound",
            "The tile of {name} has {side} · BK = {elements} elements for {threads} threads: "
            "{shares}.",
            "{side} · BK should be a multiple of the threads.",
        ),
        "idle lanes": Wording(
            "not-used",
            "{threads} threads are {warps} warps, the last with {idle} lanes that have nothing to "
            "do.",
            "How many threads make whole warps?",
            "error",
        ),
        "few blocks": Wording(
            "not-used",
            "An SM of the {device} has room for {blocks} block of {threads} threads with "
            "{registers} registers and {shared_bytes} bytes, but the exercise asks for {wanted}. "
            "The limit is set by {limiter}: {arithmetic}.",
            "Which of the four limits is reached first, and which size affects it?",
            "error",
        ),
        "little reuse": Wording(
            "excess-global-traffic",
            "{BM} · {BN} / (2 · ({BM} + {BN})) = {intensity} FLOP per requested byte, but the "
            "exercise asks for {wanted}, the {device}'s FP32 ridge.",
            "Which two sizes are in the formula, and how must the threads change with them?",
            "error",
        ),
    }
)
