"""A right answer that needs nothing; the tests of checks without Numba run it."""


def sectors(stride, offset):
    return len({(offset + lane * stride) // 8 for lane in range(32)})
