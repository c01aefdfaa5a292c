"""What is said of a tile kernel, and of a change that makes it right."""

from __future__ import annotations

from course_lib.diagnosis.repair.words import SAYS as SAYS_OF_KERNELS
from course_lib.diagnosis.words import tell as tell_of_kernels
from course_lib.wording.tables import Wording, Words

AS_OF_KERNELS = ("other numbers", "shows elsewhere", "one change", "unexplained")
tell = Words(
    {
        **{kind: tell_of_kernels.rows[kind] for kind in AS_OF_KERNELS},
        "other language": Wording(
            "missing-answer",
            "{kernel} is written in {language}, but the task asks for {wanted}.",
            "Which decorator does {wanted} use?",
        ),
        "no kernel": Wording(
            "invalid-launch",
            "{kernel} is not a kernel of {wanted}, because @{decorator} is missing above it.",
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
            "The result is wrong on {sizes}, in {place}.{unwritten}",
            "Work out this one element by hand. Which tiles do its terms come from?",
        ),
        "nothing stored": Wording(
            "incomplete-output",
            "The kernel stores nothing in {output}. On {sizes}, every element still holds "
            "what was there before the launch.",
            "Which line stores a tile, and in which array?",
        ),
        "written input": Wording(
            "wrong-index",
            "{name} is an input, but the kernel stores into it.",
            "Which array should hold the result of {formula}?",
        ),
        "dropped": Wording("no-effect", "{seen} {dropped}"),
    }
)
# As repair/words.py has them, where nobody is a thread.
SAYS = {
    **SAYS_OF_KERNELS,
    "operator": ("use another operator in {text}", "Work out {text} for one element by hand."),
    "guard left out": (
        "remove the test around this statement",
        "Which programs have to execute this?",
    ),
    "clause missing": (
        "test one more condition besides {text}",
        "Which other axis also has an edge?",
    ),
    "clause left out": ("test fewer conditions in {text}", "Which of these tests are needed?"),
    "block": (
        "add the position of the program to {text}",
        "Which elements belong to program 0, and which to program 1?",
    ),
    "indices": ("swap the two parts of {text}", "Which of the two counts rows?"),
    "tile term": (
        "add a tile to {text}, or subtract one from it",
        "What is still missing from {text}?",
    ),
    "tile factor": (
        "multiply or divide {text} by another tile",
        "What is still missing from {text}?",
    ),
    "tile maximum": (
        "take the larger one of {text} and another tile",
        "What is the largest number so far?",
    ),
    "padding": (
        "use another value past the edge in {text}",
        "Which value leaves the result unchanged?",
    ),
    "mask": ("use a mask in {text}", "Which of these addresses are inside the array?"),
    "other mask": ("use another mask than {text}", "Where does each axis of this access end?"),
    "type": ("use another type than {text}", "Which type can hold a sum of so many products?"),
    "function": (
        "use another function than {text}",
        "What does {text} return for the numbers 1 and 3?",
    ),
    "axis of a tile": ("use the other axis in {text}", "Along which axis should {text} go?"),
    "axis missing": (
        "state the axis in {text}",
        "How many numbers does {text} return, and how many should it return?",
    ),
    "axes kept": (
        "keep both axes in {text}",
        "Which shape does {text} return, and which one fits the other tile?",
    ),
    "call missing": (
        "apply a function to {text}",
        "Which function of {text} does the formula need?",
    ),
    "transposed": ("transpose {text}", "Which axis of {text} belongs to k?"),
    "stride": (
        "multiply {text} by something",
        "How many elements lie between one row and the next?",
    ),
    "step": ("use another step in {text}", "How far is it from one tile to the next?"),
    "rescale": (
        "rescale {text}",
        "What was the largest number when this was summed, and what is it now?",
    ),
    "tile number": (
        "use the number of the tile instead of {text}",
        "What does this loop count, and what does an index of cuTile count?",
    ),
    "total missing": (
        "pass the sum so far to {text}",
        "What happens to the products of earlier iterations?",
    ),
}
