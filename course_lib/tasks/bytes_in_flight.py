"""How many bytes must be under way at once: latency times bandwidth, a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="bytes_in_flight",
    title="Bytes under way",
    lesson="01",
    position=3,
    kind=FUNCTION,
    parameters=("latency_ns", "gb_per_s"),
    reference=lambda latency_ns, gb_per_s: float(latency_ns * gb_per_s),
    arguments=((100, 10), (600, 500), (342, 4197), (1, 1), (388, 7700), (2, 3)),
    values=Values(
        gives="bytes under way",
        along="latency in ns",
        at=(50, 100, 200, 400, 800),
        rows={
            "100 GB/s": lambda latency: (latency, 100),
            "1,000 GB/s": lambda latency: (latency, 1000),
            "4,000 GB/s": lambda latency: (latency, 4000),
        },
        shows="Faster, or further away: more requests at the same time.",
        unit="bytes",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda latency_ns, gb_per_s: gb_per_s / latency_ns,
            "this divides; the longer a byte travels, the more of them are under way",
            "At 10 bytes a nanosecond, how many arrive while one travels for 100 ns?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns / gb_per_s,
            "this divides; the more bytes arrive in a second, the more of them are under way",
            "At 10 bytes a nanosecond, how many arrive while one travels for 100 ns?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s * 10**9,
            "the seconds are missing: a nanosecond is 1e-9 of them",
            "How many bytes does 1 GB/s deliver in one nanosecond?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s / 10**9,
            "this is in GB",
            "How many bytes does 1 GB/s deliver in one nanosecond?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s / 4,
            "these are float32 numbers, not bytes",
            "What is asked for, numbers or bytes?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s * 4,
            "this multiplies by 4; the bandwidth is in bytes already",
            "What is the unit of GB/s?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: gb_per_s,
            "the latency is left out",
            "How long is each byte under way?",
        ),
    ),
    hints=(
        "1 GB/s is one byte in each nanosecond.",
        "So many bytes arrive in a nanosecond, and each has been under way for so many "
        "nanoseconds.",
    ),
    given='''\
def bytes_in_flight(latency_ns, gb_per_s):
    """Bytes that are under way at any moment, if memory delivers gb_per_s without a pause."""
    ...
''',
    answer='''\
def bytes_in_flight(latency_ns, gb_per_s):
    """Bytes that are under way at any moment, if memory delivers gb_per_s without a pause."""
    return latency_ns * gb_per_s
''',
    another='''\
def bytes_in_flight(latency_ns, gb_per_s):
    """Bytes that are under way at any moment, if memory delivers gb_per_s without a pause."""
    seconds = latency_ns * 1e-9
    bytes_per_second = gb_per_s * 1e9
    return seconds * bytes_per_second
''',
    compared="In SI units: the powers of ten cancel.",
    par=1,
    meaning="Latency times bandwidth, known as **Little's law**. Whoever wants all of the "
    "bandwidth has to have so many bytes on the way, all the time.",
)
