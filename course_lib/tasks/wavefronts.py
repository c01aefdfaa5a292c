"""How many passes one access takes whose lanes lie equally far apart: a plain function."""

from collections import Counter

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

LANES = range(32)


def _most(words: list[int]) -> int:
    """How often the bank is asked that is asked most."""
    return max(Counter(word % 32 for word in words).values())


TASK = Task(
    id="wavefronts",
    title="Count the wavefronts of one access",
    lesson="07",
    position=3,
    kind=FUNCTION,
    parameters=("stride",),
    reference=lambda stride: _most(list({lane * stride for lane in LANES})),
    arguments=tuple((stride,) for stride in (1, 2, 32, 3, 0, 8, 12, 16, 24, 31, 33, 40, 64, 96)),
    values=Values(
        gives="wavefronts",
        along="stride in words",
        at=tuple(range(33)),
        rows={"wavefronts": lambda stride: (stride,)},
        shows="The more often 2 divides the stride, the more wavefronts an access takes. With "
        "stride 0, all lanes read the same word.",
        look="bars",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda stride: len({lane * stride % 32 for lane in LANES}),
            "you counted the banks that are used, not how often the busiest bank is used",
            "If all 32 lanes want different words of bank 0, how many banks are used, and how "
            "many wavefronts does the access take?",
        ),
        WrongIdea(
            lambda stride: len({lane * stride for lane in LANES}),
            "you counted the words that the warp reads, but different banks serve their words in "
            "one wavefront",
            "In which banks are words 0, 2 and 32, and which of them can share a wavefront?",
        ),
        WrongIdea(
            lambda stride: _most([lane * stride for lane in LANES]),
            "you count two lanes separately even if they want the same word",
            "At stride 0, all lanes want the same word. How many wavefronts does this access take?",
        ),
        WrongIdea(
            lambda stride: [lane * stride % 32 for lane in LANES].count(0),
            "you count two lanes separately even if they want the same word",
            "At stride 0, all lanes want the same word. How many wavefronts does this access take?",
        ),
        WrongIdea(
            lambda stride: 32 if stride % 32 == 0 else 1,
            "your function knows only the best and the worst case, but there are cases in between",
            "At stride 2, which banks do lanes 0 and 16 access?",
        ),
        WrongIdea(
            lambda stride: 32 if stride == 32 else 1,
            "your function knows only the best and the worst case, but there are cases in between",
            "At stride 2, which banks do lanes 0 and 16 access?",
        ),
        WrongIdea(
            lambda stride: _most(list({lane * stride for lane in LANES[1:]})),
            "you count only 31 lanes",
            "How many lanes does a warp have, and which of them does your loop visit?",
        ),
        WrongIdea(
            lambda stride: 1,
            "you count different words of the same bank only once",
            "Words 0 and 32 are both in bank 0. What does your code turn these two words into "
            "before it counts?",
        ),
        WrongIdea(
            lambda stride: 32,
            "you returned the number of banks, which is also the number of lanes",
            "Your function counts the words in each bank. Which of these counts is the number of "
            "wavefronts?",
        ),
        WrongIdea(
            lambda stride: stride % 32 or 32,
            "your function returns 3 at stride 3, although no two lanes then use the same bank",
            "Write down the banks of lanes 0, 1, 2, … at stride 3. Does any bank repeat?",
        ),
        WrongIdea(
            lambda stride: stride,
            "your function returns 3 at stride 3, although no two lanes then use the same bank",
            "Write down the banks of lanes 0, 1, 2, … at stride 3. Does any bank repeat?",
        ),
    ),
    hints=(
        "Lane 5 reads word 5 * stride. In which bank is word 5 * stride?",
        "A `set` keeps only one copy of a word that several lanes request. Then count how many of "
        "the words are in each bank.",
        "A list of 32 zeros, one for each bank, can keep the counts; the largest count is the "
        "answer.",
    ),
    given='''\
def wavefronts(stride):
    """Return how many wavefronts an access takes, if lane k reads word k * stride."""
    ...
''',
    answer='''\
def wavefronts(stride):
    """Return how many wavefronts an access takes, if lane k reads word k * stride."""
    asked = [0] * 32
    for word in {lane * stride for lane in range(32)}:
        asked[word % 32] += 1
    return max(asked)
''',
    another='''\
import math


def wavefronts(stride):
    """Return how many wavefronts an access takes, if lane k reads word k * stride."""
    return math.gcd(stride, 32) if stride else 1
''',
    compared="In this version, the result is the greatest common divisor of the stride and 32. An "
    "even stride shares factors of two with the 32 banks.",
    par=4,
    meaning="A wavefront serves each bank once, so the busiest bank decides.",
)
