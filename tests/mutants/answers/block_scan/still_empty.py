from numba import cuda


@cuda.jit
def block_scan(x, y):  # <- missing-answer
    """y = the running sums of x, 64 at a time."""
    # your code here
