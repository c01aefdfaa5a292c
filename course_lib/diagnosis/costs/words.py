"""What is said of an answer that is right and costs more than it should."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

# Why the lanes of a warp meet in a bank.
WHY = {
    "unknown": "{lanes} lanes need different words from the same bank.",
    "down a column": "its lanes walk down a column, where words are {width} apart, so {lanes} of "
    "them need different words from the same one of the {all} banks.",
}
NEED = {
    "tiles": "two for each tile would be enough, which is {needed} in all",
    "enough": "{needed} would be enough",
    "none": "no thread needs what another thread wrote",
}
# Of loads and of stores.
AT_EDGES = (
    "Where the blocks extend past the edges of {letter} ({sizes}), the {verb}s {to} "
    "{letter} touch {sectors} sectors of 32 bytes. If neighbouring lanes accessed neighbouring "
    "elements, about {needed} would be enough."
)
MANY_SECTORS = (
    "A warp's {verb} {to} {letter} touches {per_request} sectors of 32 bytes, "
    "though {elements} neighbouring elements would need only {needed}."
)
APART = (
    "The lanes of a warp {verb} {to} {letter} in separate requests: {requests} requests touch "
    "{sectors} sectors of 32 bytes. If the lanes of a warp accessed neighbouring elements in the "
    "same request, all requests together would need {needed}."
)
LANE = "Which index of {letter} changes from one lane (threadIdx.x) to the next?"
HANDED_ON = (
    "Which thread could fetch a number for another thread? Where could both threads read it?"
)
LANE_AT_EDGES = "Which index of {letter} changes from one lane to the next at the edges?"

tell = Words(
    {
        # Shared memory, and what warps ask of its banks.
        "nothing handed over": Wording(
            "not-used",
            "Each thread reads from {array} only what it has written there itself.",
            "Which number does a thread need that another thread has loaded?",
        ),
        "no shared memory": Wording(
            "not-used",
            "The kernel uses no shared memory. Every thread fetches its operands from "
            "global memory.",
            HANDED_ON,
        ),
        "warps alone": Wording(
            "not-used", "The kernel uses no shared memory, but the task asks for it.", HANDED_ON
        ),
        "never read": Wording("not-used", "{names} {are} {done}, but never read.", HANDED_ON),
        "for show": Wording(
            "not-used",
            "The result does not depend on what the threads share in {names}. Every thread "
            "fetches its own operands from global memory.",
            HANDED_ON,
        ),
        "products of threads": Wording(
            "not-used",
            "The threads themselves do {by_threads} of {flops} FLOP, most of them here, but "
            "tensor cores should do all of them.",
            "Which of the products here could an `mma` compute instead?",
        ),
        "not wanted": Wording(
            "not-allowed",
            "{array} is shared memory, but this task asks you to do without it.",
            "Which element can a thread store as soon as it has read it?",
        ),
        "conflict": Wording(
            "bank-conflict",
            "A warp's {verb} of {access} takes {wavefronts} wavefronts, because {why}",
            "By how many words do the addresses of neighbouring lanes differ?",
        ),
        "conflicts on average": Wording(
            "bank-conflict",
            "A warp's {verb} of shared memory takes {wavefronts} wavefronts on average, "
            "because some lanes need different words from the same bank.",
            "By how many words do the addresses of neighbouring lanes differ?",
        ),
        "length of a row": Wording(
            "bank-conflict",
            "{seen} More rows do not change that. The access is at {line}.",
            "Which of the two sizes in {shape} is the length of a row?",
        ),
        "wide access": Wording(
            "bank-conflict", "{seen} An access of this width takes at least {least} wavefronts."
        ),
        "passes": Wording(
            "bank-conflict",
            "For each multiply-add of a warp, the loads from shared memory take {passes} "
            "wavefronts, but {enough} would be enough. A load on this line takes {each} "
            "wavefronts.",
            "Which lanes read the same piece here, and how many words apart are the other pieces?",
        ),
        "idle turns": Wording(
            "wrong-loop-bound",
            "The loops do more work than the result needs. The threads read {count} numbers "
            "from shared memory, but {enough} would be enough.",
            "{hint}",
        ),
        # Global memory: sectors, and elements that are fetched or stored again.
        "loads apart at edges": Wording("uncoalesced-load", AT_EDGES, LANE_AT_EDGES),
        "stores apart at edges": Wording("uncoalesced-store", AT_EDGES, LANE_AT_EDGES),
        "load of many sectors": Wording("uncoalesced-load", MANY_SECTORS, LANE),
        "store of many sectors": Wording("uncoalesced-store", MANY_SECTORS, LANE),
        "loads apart": Wording("uncoalesced-load", APART, LANE),
        "stores apart": Wording("uncoalesced-store", APART, LANE),
        "narrow": Wording(
            "not-used",
            "Here a thread needs {accesses} {verb}s to move {elements} numbers of {letter}. Each "
            "{verb} moves {size} bytes, but one instruction can move 16.",
            "Which function {verb}s four neighbours of {letter} at once?",
        ),
        "fetched again": Wording(
            "excess-global-traffic",
            "Each element of {letter} is fetched {times} times, but {least} would be enough.",
            "How often does one block read the same element of {letter}?",
        ),
        "tiny tile": Wording(
            "excess-global-traffic",
            "With tiles of {step}, a block saves almost no loads. Each element of {letter} is "
            "still fetched {least} times.",
            "How often does one block read the same element of {letter}?",
        ),
        "fetched again at edges": Wording(
            "excess-global-traffic",
            "Each element of {letter} is fetched {times} times, but {least} would "
            "be enough. These sizes are not multiples of the tile.",
            "What does a block do with {letter} where its last tile is only partly filled?",
        ),
        "visited again": Wording(
            "excess-global-traffic",
            "On average, each of the {count} numbers of {array} is loaded {times} times. "
            "The threads load numbers that they have already loaded.",
            "What has to be kept from the earlier numbers, so that none of them is needed again?",
        ),
        "read back": Wording(
            "excess-global-traffic",
            "This read of {array} from global memory is not needed. Just before each "
            "thread stored the number there, it had it in a register.",
            "What can be done with a number of {array} before it is stored?",
        ),
        "running result": Wording(
            "excess-global-traffic",
            "Each element of {letter} is written {written} times and read {read} times, because "
            "the running result goes to global memory again and again.",
            "Where else could a thread keep a number that only it needs until the end?",
            "warning",
        ),
        "stored too often": Wording(
            "excess-global-traffic",
            "Each element of {letter} is written {written} times, and only the last value counts.",
            "From which line on does a thread have its whole result?",
            "warning",
        ),
        # Registers.
        "tile of one line": Wording(
            "not-used",
            "A thread's tile is {rows} x {columns}. In each step along k, the thread "
            "reads {loads_per_sum} numbers for {sums} multiply-adds, and it uses each number of "
            "{letter} for only one sum.",
            "Which constants give the sides of this tile? How many reads would a square need?",
        ),
        "read again in a step": Wording(
            "not-used",
            "In each step along k, a thread reads {loads_now} numbers from shared memory for its "
            "{sums} multiply-adds, which is {loads} for each multiply-add. A tile of {rows} x "
            "{columns} needs only {rows} + {columns} = {numbers} numbers, which is {enough} for "
            "each.",
            "Which number does this thread read more than once in the same step along k?",
        ),
        "loaded again": Wording(
            "not-used",
            "The threads load {loads} numbers for {multiply_adds} multiply-adds. That is {each} "
            "numbers for each multiply-add, but {enough} would be enough.",
            "Which number does a thread load here that it has loaded before?",
        ),
        # Time: who waits for whom.
        "barriers": Wording(
            "excess-barriers",
            "Each block passes {each} barriers, but {need}.",
            "What does each barrier wait for?",
            "warning",
        ),
        "barriers of buffers": Wording(
            "excess-barriers",
            "Each block passes {each} barriers here, but {enough} would be enough.",
            "For each barrier, which buffer is written before it, and which threads read it after?",
        ),
        "one lane": Wording(
            "serial-work",
            "One lane of a warp adds up all numbers here, in {executed} iterations, while the "
            "other lanes wait.",
            "Which sums could two threads work out at the same time?",
        ),
        "one block": Wording(
            "serial-work",
            "Block {block} loads {times} times as many numbers from global memory as it would if "
            "all {blocks} blocks shared the work evenly.",
            "Which part of the work does each block do, and what do the other blocks do at the "
            "same time?",
        ),
        "many elements": Wording(
            "serial-work",
            "A thread computes {count} elements of {output} here, one after the other, but the "
            "exercise asks for at most {most} per thread.",
            "Which single element belongs to this thread, and which thread computes the element "
            "beside it?",
        ),
        "atomics": Wording(
            "serial-work",
            "There are {atomics} atomic requests for {elements} of the result. Lanes that "
            "update the same element take turns. Their order may change from run to run, "
            "and then the sum is rounded differently.",
            "Which of these sums could a thread collect in a register first?",
            "warning",
        ),
        "stored by threads": Wording(
            "not-used",
            "This line stores a number from a register in shared memory. An asynchronous copy "
            "needs neither the register nor the store.",
            "Which copy goes straight from global to shared memory?",
        ),
        "copy waited for": Wording(
            "serial-work",
            "The kernel waits at once for the copy that begins here, so nothing is multiplied "
            "while the tile is on its way.",
            "What could the threads do before they need the next tile?",
        ),
        "stored at once": Wording(
            "serial-work",
            "This line stores at once what {line} loads, so nothing is multiplied while the tile "
            "is on its way.",
            "What could the threads do before they need the next tile?",
        ),
    },
    severity="error",
)
