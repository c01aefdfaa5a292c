"""One `mma`: each lane loads its words of A and B, and the warp multiplies."""

from itertools import permutations

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
import numpy as np
from course_lib.intrinsics import mma_m16n8k16_bf16


@cuda.jit(device=True)
def pair(low, high):
    """Pack two 16-bit numbers into one 32-bit word. `low` becomes the lower half of the word."""
    return np.uint32(low | high << 16)


@cuda.jit
def one_mma(A, B, C):
    """One warp computes C = A @ B. A is 16 x 16 and B is 16 x 8, both in bfloat16."""
    lane = np.uint32(cuda.threadIdx.x)
    g, t = lane // 4, lane % 4
    sums = float32(0), float32(0), float32(0), float32(0)
    ...
    C[g, 2 * t], C[g, 2 * t + 1] = sums[0], sums[1]
    C[g + 8, 2 * t], C[g + 8, 2 * t + 1] = sums[2], sums[3]
'''
WRITTEN = """\
    a = (
        pair(A[g, 2 * t], A[g, 2 * t + 1]),
        pair(A[g + 8, 2 * t], A[g + 8, 2 * t + 1]),
        pair(A[g, 2 * t + 8], A[g, 2 * t + 9]),
        pair(A[g + 8, 2 * t + 8], A[g + 8, 2 * t + 9]),
    )
    b = pair(B[2 * t, g], B[2 * t + 1, g]), pair(B[2 * t + 8, g], B[2 * t + 9, g])
    sums = mma_m16n8k16_bf16(sums, a, b)
"""
WITH_LOOP = """\
    a = cuda.local.array(4, np.uint32)
    b = cuda.local.array(2, np.uint32)
    for right in range(2):
        k = 2 * t + 8 * right
        for down in range(2):
            a[2 * right + down] = pair(A[g + 8 * down, k], A[g + 8 * down, k + 1])
        b[right] = pair(B[k, g], B[k + 1, g])
    sums = mma_m16n8k16_bf16(sums, (a[0], a[1], a[2], a[3]), (b[0], b[1]))
"""


def quarters_exchanged(m):
    """A 16 x 16 matrix whose upper right and lower left quarters are swapped."""
    return m.reshape(2, 8, 2, 8).transpose(2, 1, 0, 3).reshape(16, 16)


def halves_turned(m):
    """A 16 x 8 matrix whose upper and lower halves are each transposed."""
    return m.reshape(2, 8, 8).transpose(0, 2, 1).reshape(16, 8)


def quarters_turned(m):
    """A 16 x 16 matrix whose four quarters are each transposed."""
    return m.reshape(2, 8, 2, 8).transpose(0, 3, 2, 1).reshape(16, 16)


def pairs_exchanged(m):
    """A matrix in which the two columns of each pair are swapped."""
    return m.reshape(len(m), -1, 2)[:, :, ::-1].reshape(m.shape)


def words_overlap(m):
    """A matrix whose words of t begin at column t and not at 2t, in both halves of 8 columns."""
    at = [8 * half + t + c for half in range(m.shape[1] // 8) for t in range(4) for c in range(2)]
    return m[:, at]


def first_half_twice(m):
    """A matrix whose first 8 columns stand in the place of the next 8 as well."""
    return m[:, [*range(8)] * 2]


def in_one_word(m, word, change):
    """A copy of A, or of B transposed, in which one word's 8 x 8 numbers are changed."""
    m = m.copy()
    tall = len(m) // 8
    rows, columns = word % tall * 8, word // tall * 8
    m[rows : rows + 8, columns : columns + 8] = change(m[rows : rows + 8, columns : columns + 8])
    return m


def one_of_each_pair(number):
    """The columns of a word, if this one of each pair stands there twice."""
    return [2 * pair + number for pair in range(4) for _ in range(2)]


def in_order(m, order):
    """A matrix of 16 x 16 if word w holds the quarter order[w]; 0 to 3 are down first."""
    words = m.reshape(2, 8, 2, 8).transpose(2, 0, 1, 3).reshape(4, 8, 8)
    return words[[*order]].reshape(2, 2, 8, 8).transpose(1, 2, 0, 3).reshape(16, 16)


def _orders() -> list[WrongIdea]:
    """The words of A in any order but the right one, and the one across first."""
    known = ((0, 1, 2, 3), (0, 2, 1, 3))
    names = ("upper left", "lower left", "upper right", "lower right")
    return [
        WrongIdea(
            lambda A, B, order=order: in_order(A, order) @ B,
            "word 0 comes from the {} quarter of A, word 1 from the {}, word 2 from the {}, and "
            "word 3 from the {}".format(*(names[quarter] for quarter in order)),
            "In the figure above, which quarters of A do words 1, 2 and 3 of lane 0 come from?",
            place=("load", "A"),
        )
        for order in permutations(range(4))
        if order not in known
    ]


def _single_words() -> list[WrongIdea]:
    """One word of A or of B alone with the slips that all of them may have."""
    slips = (
        (
            lambda word: word.T,
            "word {word} of {name} is transposed",
            "Does g count the rows or the columns of the matrix? Are the two numbers of a word in "
            "the same row or in the same column?",
        ),
        (
            pairs_exchanged,
            "the two numbers of word {word} of {name} are swapped",
            "Each word packs two numbers. Which of the two belongs in the lower half of the word?",
        ),
        (
            words_overlap,
            "in word {word} of {name}, the lane with t = 1 begins with the last number of the lane "
            "with t = 0, so their words overlap",
            "Each word has two numbers. With which number does the word of the lane with t = 1 "
            "begin?",
        ),
        *(
            (
                lambda word, number=number: word[:, one_of_each_pair(number)],
                "word {word} of {name} holds one number twice",
                "A word holds two neighbouring numbers. Which two numbers belong in this word?",
            )
            for number in range(2)
        ),
    )
    ideas = []
    for change, says, hint in slips:
        for word in range(4):

            def of_a(A, B, word=word, change=change):
                return in_one_word(A, word, change) @ B

            says_a = says.format(word=word, name="A")
            ideas.append(WrongIdea(of_a, says_a, hint, place=("load", "A")))
        for word in range(2):

            def of_b(A, B, word=word, change=change):
                return A @ in_one_word(B.T, word, change).T

            says_b = says.format(word=word, name="B")
            ideas.append(WrongIdea(of_b, says_b, hint, place=("load", "B")))
    return ideas


def _words_again() -> list[WrongIdea]:
    """One word that has the numbers of another one."""
    ideas = []
    for word, other in permutations(range(4), 2):
        order = [other if number == word else number for number in range(4)]
        ideas.append(
            WrongIdea(
                lambda A, B, order=order: in_order(A, order) @ B,
                f"word {word} of A is a copy of word {other}",
                f"In the figure above, which quarter of A does word {word} of lane 0 come from?",
                place=("load", "A"),
            )
        )
    for word, other in permutations(range(2)):
        rows = [*range(8 * other, 8 * other + 8)]
        ideas.append(
            WrongIdea(
                lambda A, B, rows=rows: A @ B[rows * 2],
                f"word {word} of B is a copy of word {other}",
                f"In the figure above, which rows of B does word {word} of lane 0 come from?",
                place=("load", "B"),
            )
        )
    return ideas


ACROSS_FIRST = WrongIdea(
    lambda A, B: quarters_exchanged(A) @ B,
    "the upper right and the lower left quarters of A are swapped",
    "Word 1 of A does not come from the quarter to the right of word 0. In the figure above, which "
    "quarter does word 1 come from?",
    place=("load", "A"),
)
NOT_TURNED = WrongIdea(
    lambda A, B: A @ halves_turned(B),
    "each half of B is transposed",
    "In the matrix B, are the two numbers of a word side by side, or is one below the other?",
    place=("load", "B"),
)

TASK = Task(
    id="one_mma",
    title="One instruction, one product",
    lesson="10",
    position=2,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(32,),
    shapes=("16,16", "16,8", "16,8"),
    dtypes={"A": "bfloat16", "B": "bfloat16"},
    reference=lambda A, B: A @ B,
    asks=("float32",),
    wrong_ideas=(
        ACROSS_FIRST,
        NOT_TURNED,
        WrongIdea(
            lambda A, B: quarters_exchanged(A) @ halves_turned(B),
            "two quarters of A are swapped, and each half of B is transposed",
            "Word 1 of A comes from the quarter below word 0, and each word of B holds two numbers "
            "from one column of B.",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda A, B: quarters_turned(A) @ B,
            "each quarter of A is transposed",
            "In each quarter of A, g counts the rows. What does t count?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda A, B: pairs_exchanged(A) @ B,
            "the two numbers of each word of A are swapped",
            "Each word packs two numbers. Which of the two belongs in the lower half of the word?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda A, B: A @ pairs_exchanged(B.T).T,
            "the two numbers of each word of B are swapped",
            "Each word packs two numbers. Which of the two belongs in the lower half of the word?",
            place=("load", "B"),
        ),
        WrongIdea(
            lambda A, B: words_overlap(A) @ B,
            "the words of A overlap, because the lane with t = 1 begins its word with the last "
            "number of the lane with t = 0",
            "Each word of A has two columns. At which column does the word of the lane with t = 1 "
            "begin?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda A, B: A @ words_overlap(B.T).T,
            "the words of B overlap, because the lane with t = 1 begins its word with the last "
            "number of the lane with t = 0",
            "Each word of B has two rows. At which row does the word of the lane with t = 1 begin?",
            place=("load", "B"),
        ),
        WrongIdea(
            lambda A, B: words_overlap(A) @ words_overlap(B.T).T,
            "the words overlap, because the lane with t = 1 begins its word with the last number "
            "of the lane with t = 0",
            "Each word has two numbers. With which number does the word of the lane with t = 1 "
            "begin?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda A, B: first_half_twice(A) @ B,
            "your kernel uses the left half of A twice and never the right half",
            "In the figure above, which columns of A do words 2 and 3 of lane 0 come from?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda A, B: A @ first_half_twice(B.T).T,
            "your kernel uses the upper half of B twice and never the lower half",
            "In the figure above, which rows of B does word 1 of lane 0 come from?",
            place=("load", "B"),
        ),
        WrongIdea(
            lambda A, B: A[[*range(8)] * 2] @ B,
            "the lower half of C repeats the upper half",
            "In the figure above, which rows of A do words 1 and 3 of lane 0 come from?",
            place=("load", "A"),
        ),
        *_single_words(),
        *_words_again(),
        *_orders(),
    ),
    formula="C = A @ B",
    hints=(
        "Choose lane 0 in the figure above, and then lane 1. Which elements of A do the words of "
        "each lane contain?",
        "Word 0 of A is `pair(A[g, 2 * t], A[g, 2 * t + 1])`. The numbers of word 1 are 8 rows "
        "further down.",
        "`a` is a tuple of four words, and `b` is a tuple of two. The two numbers in a word of B "
        "come from the same column. `mma_m16n8k16_bf16(sums, a, b)` returns the new sums.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("    ...\n", WRITTEN),
    another=GIVEN.replace("    ...\n", WITH_LOOP),
    compared="This version loops over the halves of A and B. Its inner loop goes down, so words 0 "
    "and 1 come from the left half of A.",
    par=8,
    meaning="One instruction did 2,048 multiply-adds. The picture shows which four sums each lane "
    "holds. These sums are the lane's fragment of C.",
)
