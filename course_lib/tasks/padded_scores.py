"""Scores of queries and keys through shared memory: rows with rows, without bank conflicts."""

from course_lib.registry.exercise import Task, WrongIdea


def _first_keys(Q, K):
    """As if every block took the first 32 keys."""
    import numpy as np

    return np.tile(Q @ K[:32].T, (1, len(K) // 32))


def _first_queries(Q, K):
    """As if every block took the first 16 queries."""
    import numpy as np

    return np.tile(Q[:16] @ K.T, (len(Q) // 16, 1))


def _keys_that_overlap(Q, K):
    """As if a block had 16 keys, and took 32."""
    import numpy as np

    key = np.arange(len(K))
    return Q @ K[key // 32 * 16 + key % 32].T


def _half_of_the_keys(Q, K):
    """As if 16 of 32 rows of the tile of keys had been loaded, for the lanes of both halves."""
    import numpy as np

    first = np.arange(len(K)) // 32 * 32 + np.arange(len(K)) % 16
    return Q @ K[first].T


TASK = Task(
    id="padded_scores",
    title="Rows with rows, through shared memory",
    lesson="11",
    position=1,
    parameters=("Q", "K", "S"),
    output="S",
    block=(32, 16),
    shapes=("48,32", "64,32", "48,64"),
    other_sizes=({"48": 64}, {"64": 96}),
    reference=lambda Q, K: Q @ K.T,
    asks=("shared-memory", "race-free", "reuse", "coalesced", "conflict-free", "float32"),
    wrong_ideas=(
        WrongIdea(
            _first_keys,
            "every block takes the first 32 keys",
            "In which row of K do the keys of block (1, 0) begin?",
            place=("load", "K"),
        ),
        WrongIdea(
            _first_queries,
            "every block takes the first 16 queries",
            "In which row of Q do the queries of block (0, 1) begin?",
            place=("load", "Q"),
        ),
        WrongIdea(
            _keys_that_overlap,
            "the keys of each block begin only 16 rows after those of the previous block",
            "How many keys does a block have? In which row of K do the keys of block (1, 0) begin?",
            place=("load", "K"),
        ),
        WrongIdea(
            _half_of_the_keys,
            "each tile holds its first 16 keys twice",
            "A block has 16 rows of threads, and a tile has 32 keys. Which two keys does a thread "
            "load?",
            place=("load", "K"),
        ),
        WrongIdea(
            lambda Q, K: Q[:, :16] @ K[:, :16].T,
            "the last 16 products are missing from each score",
            "How many numbers does a row of Q have?",
            place=("sum",),
        ),
        WrongIdea(
            lambda Q, K: Q[:, -1:] @ K[:, -1:].T,
            "each product overwrites the sum, so only the last product is left in each score",
            "What should the sum still contain from the earlier values of k?",
            place=("sum",),
        ),
    ),
    formula="S[i, j] = the sum of Q[i, k] * K[j, k] over k = 0 … 31",
    hints=(
        "A block has 512 threads, for 16 queries and 32 keys. Each thread loads one element of Q "
        "and two elements of K.",
        "The lanes of a warp share one query and have 32 different keys. In one step along k, "
        "they read down a column of the tile of keys. How did lesson 07 avoid bank conflicts in "
        "that case?",
        "Give the tile of keys rows of 33 words. Fill both tiles, wait at a barrier, and then let "
        "each thread add up 32 products.",
    ),
    given='''\
@cuda.jit
def padded_scores(Q, K, S):
    """S = Q @ K.T, where each row of Q and K has 32 numbers. Each block computes the scores of 16
    queries (y) and 32 keys (x), and all blocks are full."""
    ...
''',
    answer='''\
@cuda.jit
def padded_scores(Q, K, S):
    """S = Q @ K.T, where each row of Q and K has 32 numbers. Each block computes the scores of 16
    queries (y) and 32 keys (x), and all blocks are full."""
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query, first = 16 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x
    sQ[y, x] = Q[query, x]
    sK[y, x] = K[first + y, x]
    sK[y + 16, x] = K[first + y + 16, x]
    cuda.syncthreads()
    score = float32(0)
    for k in range(32):
        score += sQ[y, k] * sK[x, k]
    S[query, first + x] = score
''',
    another='''\
@cuda.jit
def padded_scores(Q, K, S):
    """S = Q @ K.T, where each row of Q and K has 32 numbers. Each block computes the scores of 16
    queries (y) and 32 keys (x), and all blocks are full."""
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query, first = 16 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x
    sQ[y, x] = Q[query, x]
    for key in range(y, 32, 16):
        sK[key, x ^ key] = K[first + key, x]
    cuda.syncthreads()
    score = float32(0)
    for k in range(32):
        score += sQ[y, k] * sK[x, k ^ x]
    S[query, first + x] = score
''',
    compared="This version uses an XOR instead of padding, so the tile of keys takes no more than "
    "32 × 32 words.",
    par=12,
    meaning="Your kernel is the first half of attention: it says how well each query matches each "
    "key. Remember this kernel, because you will need its tile of keys again.",
)
