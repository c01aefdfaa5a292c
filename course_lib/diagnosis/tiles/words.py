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
            "{kernel} is no kernel of {wanted}: @{decorator} has to stand above it.",
            "What has to stand in the line above `def {kernel}`?",
        ),
        "empty": Wording(
            "missing-answer",
            "{kernel} is still empty: it stores nothing.",
            "Which tile of {output} belongs to this program?",
        ),
        "other parameters": Wording(
            "invalid-launch",
            "{kernel} takes ({own_parameters}); the task calls {signature}.",
            "Compare the parameters.",
        ),
        "wrong": Wording(
            "wrong-result",
            "Wrong on {sizes}, in {place}.{unwritten}",
            "Work out that one element by hand: from which tiles do its terms come?",
        ),
        "nothing stored": Wording(
            "incomplete-output",
            "Nothing is stored in {output}: on {sizes} every element still holds what was there "
            "before the launch.",
            "Which line stores a tile, and in which array?",
        ),
        "written input": Wording(
            "wrong-index",
            "{name} is an input, and the kernel stores into it.",
            "Which array should hold the result of {formula}?",
        ),
        "other numbers": Wording("wrong-formula", "{output} holds other numbers: {says}."),
        "shows elsewhere": Wording("", "{seen} That shows at {line}."),
        "dropped": Wording("no-effect", "{seen} {dropped}"),
        "one change": Wording("", "{seen} With one change here it would be right: {says}."),
        "unexplained": Wording("", "{seen} Nothing that was tried explains the numbers."),
    }
)
# As repair/words.py has them, where nobody is a thread.
SAYS = {
    **SAYS_OF_KERNELS,
    "operator": ("another operator in {text}", "Work out {text} for one element by hand."),
    "guard left out": ("no test around this", "Which programs have to get here?"),
    "clause missing": ("one more condition beside {text}", "Which axis has an edge as well?"),
    "clause left out": ("fewer conditions in {text}", "Which of these tests is needed?"),
    "block": (
        "the place of the program added to {text}",
        "Which elements belong to program 0, and which ones to program 1?",
    ),
    "indices": ("the two parts of {text} exchanged", "Which of the two counts rows?"),
    "tile term": ("a tile added to {text} or taken away", "What is {text} still missing?"),
    "tile factor": ("{text} times another tile, or divided", "What is {text} still missing?"),
    "tile maximum": ("the larger one of {text} and another", "Which is the largest so far?"),
    "padding": (
        "another value past the edge in {text}",
        "Which value changes nothing in what is computed with it?",
    ),
    "mask": ("a mask in {text}", "Which of these addresses lie inside the array?"),
    "other mask": ("another mask than {text}", "Which axis ends where in this access?"),
    "type": ("another type than {text}", "Which type can hold a sum of so many products?"),
    "function": ("another function than {text}", "What does {text} give for the numbers 1, 3?"),
    "step": ("another step than that of {text}", "How far is it from one tile to the next?"),
    "rescale": (
        "the sum so far rescaled at {text}",
        "What was the largest number when this was summed, and which one is it now?",
    ),
    "tile number": (
        "the number of the tile where {text} stands",
        "What does this loop count, and what does an index of cuTile count?",
    ),
    "kept": ("a variable kept for the next turn", "Which of these does the next turn need?"),
    "total missing": ("the sum so far handed to {text}", "What becomes of the products before?"),
}
