"""The share of what a cache is asked for that it has: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="hit_rate",
    title="A hit rate from two counters",
    lesson="08b",
    position=2,
    kind=FUNCTION,
    parameters=("asked", "passed_on"),
    reference=lambda asked, passed_on: 1 - passed_on / asked,
    arguments=(
        (100, 25),
        (40, 4),
        (8, 8),
        (100, 0),
        (350, 70),
        (16, 10),
        (2000, 30),
        (1.5, 0.75),
        (50, 49),
    ),
    values=Values(
        gives="hit rate",
        along="GB passed on, of 100 requested",
        at=(0, 10, 25, 50, 75, 90, 100),
        rows={"100 GB asked for": lambda passed_on: (100, passed_on)},
        shows="The cache itself answers every request that it does not pass on.",
        look="bars",
        unit="share",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda asked, passed_on: passed_on / asked,
            "you computed the share of the requests that the cache passed on",
            "If 100 GB are requested and the cache passes on 25 GB, how many GB does the cache "
            "supply itself?",
        ),
        WrongIdea(
            lambda asked, passed_on: asked - passed_on,
            "you computed how many GB the cache supplied, but the task asks for a share",
            "If the cache supplied 36 GB of the 40 GB that were requested, what is its hit rate?",
        ),
        WrongIdea(
            lambda asked, passed_on: asked / passed_on if passed_on else 0,
            "you divide the GB that were requested by the GB that were passed on",
            "What should the result be if the cache answered every request?",
        ),
        WrongIdea(
            lambda asked, passed_on: 100 * (1 - passed_on / asked),
            "you returned a percentage, but a share is at most 1",
            "What should the result be if the cache answered every request?",
        ),
        WrongIdea(
            lambda asked, passed_on: (asked - passed_on) / passed_on if passed_on else 0,
            "you divide by the GB that were passed on",
            "A hit rate is a share of everything that was requested.",
        ),
    ),
    hints=(
        "If 100 GB are requested and 25 GB are passed on, how many GB did the cache supply itself?",
        "Divide the GB that the cache supplied by all the GB that were requested.",
    ),
    given='''\
def hit_rate(asked, passed_on):
    """Return the hit rate of a cache. `asked` GB were requested from it, and it passed `passed_on`
    GB of these requests on to the next level."""
    ...
''',
    answer='''\
def hit_rate(asked, passed_on):
    """Return the hit rate of a cache. `asked` GB were requested from it, and it passed `passed_on`
    GB of these requests on to the next level."""
    return (asked - passed_on) / asked
''',
    another='''\
def hit_rate(asked, passed_on):
    """Return the hit rate of a cache. `asked` GB were requested from it, and it passed `passed_on`
    GB of these requests on to the next level."""
    missed = passed_on / asked
    return 1 - missed
''',
    compared="This version computes the share of the requests that missed, and subtracts it from "
    "1.",
    par=1,
    meaning="Nsight Compute reports this *hit rate* for L1 and for L2.",
)
