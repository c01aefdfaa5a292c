"""How many bytes must be in flight at once: latency times bandwidth, a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="bytes_in_flight",
    title="Bytes in flight",
    lesson="01",
    position=3,
    kind=FUNCTION,
    parameters=("latency_ns", "gb_per_s"),
    reference=lambda latency_ns, gb_per_s: float(latency_ns * gb_per_s),
    arguments=((100, 10), (600, 500), (342, 4197), (1, 1), (388, 7700), (2, 3)),
    values=Values(
        gives="bytes in flight",
        along="latency in ns",
        at=(50, 100, 200, 400, 800),
        rows={
            "100 GB/s": lambda latency: (latency, 100),
            "1,000 GB/s": lambda latency: (latency, 1000),
            "4,000 GB/s": lambda latency: (latency, 4000),
        },
        shows="The higher the bandwidth of a memory is, and the longer its latency, the more bytes "
        "have to be in flight at once.",
        unit="bytes",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda latency_ns, gb_per_s: gb_per_s / latency_ns,
            "you divide by the latency, but with a longer latency, more bytes are in flight",
            "If 10 bytes arrive per nanosecond, how many bytes arrive while one of them travels "
            "for 100 ns?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns / gb_per_s,
            "you divide by the bandwidth, but with a higher bandwidth, more bytes are in flight",
            "If 10 bytes arrive per nanosecond, how many bytes arrive while one of them travels "
            "for 100 ns?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s * 10**9,
            "you did not take into account that a nanosecond is 1e-9 seconds",
            "How many bytes does 1 GB/s deliver in one nanosecond?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s / 10**9,
            "your result is in GB, but the task asks for bytes",
            "How many bytes does 1 GB/s deliver in one nanosecond?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s / 4,
            "you counted float32 numbers instead of bytes",
            "Does the task ask for a number of floats or for a number of bytes?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: latency_ns * gb_per_s * 4,
            "you multiply by 4, but the bandwidth is already in bytes",
            "What does the B in GB/s stand for?",
        ),
        WrongIdea(
            lambda latency_ns, gb_per_s: gb_per_s,
            "you left out the latency",
            "For how many nanoseconds is each byte in flight?",
        ),
    ),
    hints=(
        "1 GB/s is one byte per nanosecond.",
        "You know how many bytes arrive in a nanosecond, and for how many nanoseconds each byte is "
        "in flight.",
    ),
    given='''\
def bytes_in_flight(latency_ns, gb_per_s):
    """Return how many bytes are in flight at any moment while memory delivers `gb_per_s` GB/s."""
    ...
''',
    answer='''\
def bytes_in_flight(latency_ns, gb_per_s):
    """Return how many bytes are in flight at any moment while memory delivers `gb_per_s` GB/s."""
    return latency_ns * gb_per_s
''',
    another='''\
def bytes_in_flight(latency_ns, gb_per_s):
    """Return how many bytes are in flight at any moment while memory delivers `gb_per_s` GB/s."""
    seconds = latency_ns * 1e-9
    bytes_per_second = gb_per_s * 1e9
    return seconds * bytes_per_second
''',
    compared="This version converts both numbers to SI units, and the powers of ten cancel.",
    par=1,
    meaning="Latency times bandwidth is **Little's law**. To use the whole bandwidth, a kernel "
    "must keep that many bytes in flight all the time.",
)
