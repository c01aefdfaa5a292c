"""Launches and findings that several pictures are drawn from."""

import numpy as np
import pytest
from kernels_to_watch import TILED, kernel
from known_kernels import matmul_naive as matmul_rows
from known_kernels import matmul_strided
from numba import cuda, float32

from course_lib.emulator import emulate
from course_lib.wording.findings import Finding, finding

matmul_without_first_barrier = kernel(TILED, ("        cuda.syncthreads()  # first\n", ""))


def one_cell(A, B):
    B[0] = A[cuda.threadIdx.x]


def two_lines(A, B):
    s = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        s[0] = float32(0)
    if cuda.threadIdx.x == 40:
        s[0] = float32(1)
    cuda.syncthreads()
    B[cuda.threadIdx.x] = s[0]


def blocks_write(A, B):
    B[cuda.threadIdx.x] = A[cuda.blockIdx.x]


def blocks_read(A, B):
    i = cuda.grid(1)
    A[i] = float32(1)
    B[i] = A[cuda.threadIdx.x]


def launch(kernel, rows, columns, depth, block):
    A = np.ones((rows, depth), np.float32)
    B = np.ones((depth, columns), np.float32)
    C = np.zeros((rows, columns), np.float32)
    grid = (-(-columns // block[0]), -(-rows // block[1]))
    return emulate(kernel, trace=True)[grid, block](A, B, C)


@pytest.fixture(scope="session")
def strided():
    return launch(matmul_strided, 32, 32, 8, (32, 32))


@pytest.fixture(scope="session")
def rows():
    return launch(matmul_rows, 32, 32, 8, (32, 32))


@pytest.fixture(scope="session")
def ragged():
    """3 x 5 outputs, 7 steps of k, under blocks of 4 x 4."""
    return launch(matmul_rows, 3, 5, 7, (4, 4))


@pytest.fixture(scope="session")
def race():
    """The profile of a kernel that lacks its first barrier."""
    return launch(matmul_without_first_barrier, 32, 32, 32, (16, 16))


@pytest.fixture(scope="session")
def races():
    """One line, two lines, two blocks that write, a block that reads what another wrote."""
    launches = ((one_cell, 1), (two_lines, 1), (blocks_write, 2), (blocks_read, 2))
    return [
        emulate(kernel)[grid, 64](np.ones(128, np.float32), np.zeros(128, np.float32))
        for kernel, grid in launches
    ]


@pytest.fixture(scope="session")
def write_after_read() -> Finding:
    return finding(
        "race-write-after-read", "told elsewhere", 13, other_line=19,
        threads=((3, 0, 0), (3, 4, 0)), cell="sB[4, 3]",
    )  # fmt: skip
