"""What is said of a tile kernel, and of a change that makes it right."""

from __future__ import annotations

from course_lib.diagnosis.repair.words import SAYS as SAYS_OF_KERNELS
from course_lib.wording.tables import Wording, Words

tell = Words(
    {
        "other language": Wording(
            "missing-answer",
            "{kernel} is written in {language}, and the task asks for {wanted}.",
            "Which decorator does {wanted} have?",
        ),
        "no kernel": Wording(
            "invalid-launch",
            "{kernel} is not a kernel of {wanted}: @{decorator} is missing above it.",
            "What has to be in the line above `def {kernel}`?",
        ),
        "empty": Wording(
            "missing-answer",
            "{kernel} is still empty: it stores nothing.",
            "Which tile of {output} belongs to this program?",
        ),
        "other parameters": Wording(
            "invalid-launch",
            "{kernel} takes ({own_parameters}), but the task calls {signature}.",
            "Compare the parameters.",
        ),
        "wrong": Wording(
            "wrong-result",
            "Wrong on {sizes}, in {place}.{unwritten}",
            "Work out that one element by hand. From which tiles do its terms come?",
        ),
        "nothing stored": Wording(
            "incomplete-output",
            "Nothing is stored in {output}. On {sizes}, every element still holds what was there "
            "before the launch.",
            "Which line stores a tile, and in which array?",
        ),
        "written input": Wording(
            "wrong-index",
            "{name} is an input, but the kernel stores into it.",
            "Which array should hold the result of {formula}?",
        ),
        "other numbers": Wording("wrong-formula", "{output} holds the wrong numbers: {says}."),
        "shows elsewhere": Wording("", "{seen} That shows at {line}."),
        "dropped": Wording("no-effect", "{seen} {dropped}"),
        "one change": Wording("", "{seen} One change here would make it right: {says}."),
        "unexplained": Wording("", "{seen} The checker found no explanation for these numbers."),
    }
)
# As repair/words.py has them, where nobody is a thread.
SAYS = {
    **SAYS_OF_KERNELS,
    "operator": ("another operator in {text}", "Work out {text} for one element by hand."),
    "guard left out": ("no test around this", "Which programs have to execute this?"),
    "clause missing": ("one more condition beside {text}", "Which other axis has an edge too?"),
    "clause left out": ("fewer conditions in {text}", "Which of these tests are needed?"),
    "block": (
        "the position of the program added to {text}",
        "Which elements belong to program 0, and which to program 1?",
    ),
    "indices": ("the two parts of {text} exchanged", "Which of the two counts rows?"),
    "tile term": ("a tile added to {text} or taken away", "What does {text} still lack?"),
    "tile factor": ("{text} times another tile, or divided", "What does {text} still lack?"),
    "tile maximum": ("the larger one of {text} and another", "Which is the largest number so far?"),
    "padding": (
        "another value past the edge in {text}",
        "Which value leaves the result unchanged?",
    ),
    "mask": ("a mask in {text}", "Which of these addresses lie inside the array?"),
    "other mask": ("another mask than {text}", "Where does each axis of this access end?"),
    "type": ("another type than {text}", "Which type can hold a sum of so many products?"),
    "function": ("another function than {text}", "What does {text} give for the numbers 1, 3?"),
    "step": ("another step than that of {text}", "How far is it from one tile to the next?"),
    "rescale": (
        "a rescaling at {text}",
        "What was the largest number when this was summed, and what is it now?",
    ),
    "tile number": (
        "the number of the tile in place of {text}",
        "What does this loop count, and what does an index of cuTile count?",
    ),
    "kept": (
        "a variable kept for the next iteration",
        "Which of these does the next iteration need?",
    ),
    "total missing": (
        "the sum so far passed to {text}",
        "What happens to the products of earlier iterations?",
    ),
}
