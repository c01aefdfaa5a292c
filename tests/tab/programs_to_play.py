"""Whole programs as people paste them. A line that the tab does not run ends in `# not run`."""

HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32\n\n"
ADD = """\
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

"""
PROGRAMS: dict[str, str] = {}
PROGRAMS["vector add of the docs"] = """\
import numpy as np
from numba import cuda

@cuda.jit
def f(a, b, c):
    # like threadIdx.x + (threadIdx.y * blockDim.x)
    tid = cuda.grid(1)
    size = len(c)

    if tid < size:
        c[tid] = a[tid] + b[tid]

N = 10000
a = cuda.to_device(np.random.default_rng(1).random(N))
b = cuda.to_device(np.random.default_rng(2).random(N))
c = cuda.device_array_like(a)
f.forall(len(a))(a, b, c)
print(c.copy_to_host())
# Enough threads per block for several warps per block
nthreads = 256
# Enough blocks to cover the entire vector depending on its length
nblocks = (len(a) // nthreads) + 1
f[nblocks, nthreads](a, b, c)
print(c.copy_to_host())
"""
PROGRAMS["saxpy"] = HEAD + """\
@cuda.jit
def saxpy(n, a, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        y[i] = a * x[i] + y[i]

N = 1 << 12
x = np.ones(N, dtype=np.float32)
y = np.full(N, 2.0, dtype=np.float32)
d_x, d_y = cuda.to_device(x), cuda.to_device(y)
saxpy[(N + 255) // 256, 256](N, np.float32(2.0), d_x, d_y)
d_y.copy_to_host(y)
error = np.abs(y - 4.0).max()
print(f"Max error: {error:.6f}")
print("Max error: %.3f" % error, "of {} elements".format(N))
"""  # fmt: skip
PROGRAMS["matmul in shared memory"] = HEAD + """\
TPB = 8

@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = cuda.gridDim.x
    tmp = float32(0.)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp

x_h = np.arange(16).reshape([4, 4])
y_h = np.ones([4, 4])
z_h = np.zeros([4, 4])

x_d = cuda.to_device(x_h)
y_d = cuda.to_device(y_h)
z_d = cuda.to_device(z_h)

threadsperblock = (TPB, TPB)
blockspergrid_x = math.ceil(z_h.shape[0] / threadsperblock[0])
blockspergrid_y = math.ceil(z_h.shape[1] / threadsperblock[1])
blockspergrid = (blockspergrid_x, blockspergrid_y)

fast_matmul[blockspergrid, threadsperblock](x_d, y_d, z_d)
z_h = z_d.copy_to_host()
print(z_h)
print(x_h @ y_h)
"""  # fmt: skip
PROGRAMS["reduction with two launches"] = HEAD + """\
BLOCK = 64

@cuda.jit
def partial_sums(x, out):
    s = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

rng = np.random.default_rng(42)
x = rng.integers(0, 10, 1000).astype(np.float32)
blocks = -(-x.size // BLOCK)
d_partial = cuda.device_array(blocks, np.float32)
d_total = cuda.device_array(1, np.float32)
partial_sums[blocks, BLOCK](cuda.to_device(x), d_partial)
partial_sums[1, BLOCK](d_partial, d_total)
total = d_total.copy_to_host()[0]
print("sum:", total, "expected:", x.sum())
assert total == x.sum(), "wrong sum"
"""  # fmt: skip
PROGRAMS["main"] = HEAD + ADD + """\
def run(n, threads=128):
    '''Adds two vectors.'''
    a = np.arange(n, dtype=np.float32)
    b = 2 * a
    c = np.zeros_like(a)
    grid = math.ceil(n / threads)
    add[grid, threads](a, b, c)
    return c, grid


def main():
    c, grid = run(300)
    print(f"{grid} blocks, last element {c[-1]}, mean {c.mean():.2f}")
    for n in (10, 129):
        c, grid = run(n, threads=64)
        print(n, grid, c.sum())


if __name__ == "__main__":
    main()
"""  # fmt: skip
PROGRAMS["streams"] = HEAD + ADD + """\
stream = cuda.stream()
a = np.arange(100.0)
d_a = cuda.to_device(a, stream=stream)
d_c = cuda.device_array_like(a, stream=stream)
add[1, 128, stream](d_a, d_a, d_c)
c = d_c.copy_to_host(stream=stream)
stream.synchronize()
print(c.sum())
with stream.auto_synchronize():
    add[1, 128, stream](d_c, d_a, d_c)
with cuda.pinned(a):
    d_c.copy_to_host(a, stream)
print(a[:3])
"""  # fmt: skip
PROGRAMS["stencil, arrays in turns"] = HEAD + """\
@cuda.jit
def jacobi(new, old):
    i, j = cuda.grid(2)
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = 0.25 * (old[i-1, j] + old[i+1, j] + old[i, j-1] + old[i, j+1])

def reference(u, steps):
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = v
    return u

u = np.zeros((18, 18))
u[0, :] = 1.0
old, new = cuda.to_device(u), cuda.to_device(u)
block = (8, 8)
grid = tuple(math.ceil(n / b) for n, b in zip(u.shape, block))
steps = 0
while steps < 6:
    jacobi[grid, block](new, old)
    old, new = new, old
    steps += 1
result = old.copy_to_host()
print(np.abs(result - reference(u, 6)).max() < 1e-12, result[1, 1:4])
"""  # fmt: skip
PROGRAMS["random numbers of old"] = HEAD + ADD + """\
np.random.seed(7)
a = np.random.rand(64)
b = np.random.randn(64)
c = np.empty(64)
add[1, 64](a, b, c)
print(c[:3], np.random.uniform(0, 1, 2), np.random.random((2, 2)))
"""  # fmt: skip
PROGRAMS["constants of the host"] = HEAD + """\
N = 48
x = np.zeros((N, 3))
COLUMNS = x.shape[1]
TABLE = np.array([1.0, 10.0, 100.0])
SIZE = int(2 ** math.ceil(math.log2(N)))

@cuda.jit
def weigh(x, out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(COLUMNS):
            total += table[j] * x[i, j]
        out[i] = total

x[:, 0] = np.arange(N)
x[:, 1:] = 1
out = np.zeros(N)
weigh[1, SIZE](x, out)
print(SIZE, out[:3], x.T.shape, x.dtype)
"""  # fmt: skip
PROGRAMS["a factory, a closure and a lambda"] = HEAD + """\
def make_scale(factor):
    @cuda.jit
    def scale(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * factor
    return scale

blocks_for = lambda n, threads=32: (n + threads - 1) // threads
x = np.ones(50)
double = make_scale(2.0)
triple = make_scale(3.0)
config = double[blocks_for(50), 32]
config(x)
triple[blocks_for(x.size), 32](x)
print(x[0], x[-1], sum([blocks_for(n) for n in range(1, 100, 33)]))
"""  # fmt: skip
PROGRAMS["events and the device"] = HEAD + ADD + """\
print(cuda.is_available() and "# only here")  # only here
print(cuda.get_current_device().name)  # not run
start, end = cuda.event(), cuda.event()
a = np.ones(8)
start.record()
add[1, 8](a, a, a)
end.record()
end.synchronize()
ms = cuda.event_elapsed_time(start, end)  # not run
print(f"{ms} ms")  # not run
print(a)
"""  # fmt: skip
PROGRAMS["kernel that prints"] = HEAD + """\
@cuda.jit
def hello():
    if cuda.threadIdx.x == 0:
        print("block", cuda.blockIdx.x)

print("before")
hello[2, 4]()
cuda.synchronize()
print("after", end="!\\n")
"""  # fmt: skip
PROGRAMS["torch behind a condition"] = """\
import numpy as np
from numba import cuda
import torch  # not run

@cuda.jit
def fill(x, value):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = value

use_torch = torch.cuda.is_available()  # not run
kind = "numpy"
if use_torch:  # not run
    kind = "torch"  # not run
print(kind)  # not run
x = np.zeros((4, 4), np.float32)
fill[1, 16](x.ravel(), 7)
print(x[0])
"""
