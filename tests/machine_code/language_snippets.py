"""Some hundreds of small kernels on which the compiler and the emulator must agree.

Every snippet is the body of a kernel with the parameters in PARAMETERS; "; " ends a line of it, "|"
one that opens a block, ";; " a line and all blocks; two spaces stand between snippets. They are
grouped by what they try, and most are made by combining kinds of values with operators, functions
and attributes. Numba's compiler says which of them are right.
"""

import itertools
import re

# What the snippets may use besides numba, numpy and math.
BEFORE = """
import enum, math, operator, cmath
from collections import namedtuple
import numpy as np
from numba import cuda, float32, float64, int8, int32, int64, uint32, uint64, types

class Color(enum.Enum):
    red = 1
    green = 2

class Num(enum.IntEnum):
    one = 1
    two = 2

Point = namedtuple("Point", "x y")
POINT = Point(1, 2.0)
SIZE = 8
HALF = 0.5
SHAPE = (4, 4)
NESTED = ((1, 2), 3)
TEXT = "text"
TABLE = np.arange(6, dtype=np.float32)
GRID = np.arange(6, dtype=np.float32).reshape(2, 3)
EMPTY = ()
LIST = [1, 2]
DICT = {1: 2}
COMPLEX = 1j
BIG = 2**70
LAMBDA = lambda v: v
NOTHING = None

def plain(v):
    return v

@cuda.jit(device=True)
def twice(v):
    return v + v

@cuda.jit(device=True)
def nothing(v):
    pass

@cuda.jit(device=True)
def maybe(v):
    if v < 0:
        return None
    return v

@cuda.jit(device=True)
def one_or_two(v):
    if v < 0:
        return 1
    return 2.5

@cuda.jit(device=True)
def number_or_pair(v):
    if v < 0:
        return 1
    return (1, 2)

@cuda.jit(device=True)
def pair(v):
    return v, v + 1

@cuda.jit(device=True)
def scratch(v, size):
    s = cuda.shared.array(size, float32)
    s[0] = v
    return s[0]

@cuda.jit(device=True)
def with_default(v, w=2):
    return v + w

@cuda.jit(device=True)
def first(v):
    return v[0]
"""

# name: (Numba's type, a value for a launch)
PARAMETERS = {
    "a": ("float32[::1]", "np.ones(8, np.float32)"),
    "b": ("float32[::1]", "np.ones(8, np.float32)"),
    "d": ("float64[::1]", "np.ones(8)"),
    "k": ("int32[::1]", "np.ones(8, np.int32)"),
    "u": ("uint32[::1]", "np.ones(8, np.uint32)"),
    "y": ("int8[::1]", "np.ones(8, np.int8)"),
    "o": ("boolean[::1]", "np.ones(8, np.bool_)"),
    "h": ("float16[::1]", "np.ones(8, np.float16)"),
    "m": ("float32[:, ::1]", "np.ones((4, 4), np.float32)"),
    "f": ("float32[::1, :]", "np.ones((4, 4), np.float32, order='F')"),
    "g": ("float32[:, :]", "np.ones((8, 8), np.float32)[::2, ::2]"),
    "n": ("int64", "2"),
    "w": ("int32", "np.int32(2)"),
    "v": ("uint32", "np.uint32(2)"),
    "x": ("float32", "np.float32(1.5)"),
    "z": ("float64", "2.5"),
    "q": ("boolean", "True"),
    "t": ("UniTuple(int64, 2)", "(1, 2)"),
    "r": ("Tuple((int64, float64))", "(1, 2.5)"),
    "C": ("complex64[::1]", "np.ones(8, np.complex64)"),
    "R": ("Array(Record.make_c_struct([('x', float32), ('j', int32), "
        "('v', NestedArray(dtype=float32, shape=(2,)))]), 1, 'C')",
        "np.zeros(8, np.dtype([('x', 'f4'), ('j', 'i4'), ('v', 'f4', (2,))], align=True))"),
    "Z": ("Array(float32, 0, 'C')", "np.ones((), np.float32)"),
}  # fmt: skip

# One value of each kind.
KINDS = {
    "integer": "n", "int32": "w", "unsigned": "v", "float32": "x", "float64": "z", "boolean": "q",
    "array": "a", "matrix": "m", "tuple": "t", "mixed tuple": "r", "shape": "m.shape",
    "nested tuple": "(t, n)", "tuple of arrays": "(a, b)", "empty tuple": "()", "named": "POINT",
    "text": "'s'", "none": "None", "range": "range(3)", "function": "math.sqrt",
    "module": "math", "type": "np.float32", "dtype": "a.dtype", "flat": "a.flat",
    "enum": "Color.red", "int enum": "Num.one", "constant array": "TABLE", "slice": "a[1:3]",
    "device function": "twice", "literal": "3", "float16": "h[0]",
}  # fmt: skip
SOME = ("n", "z", "q", "a", "m", "t", "r", "'s'", "None", "range(3)", "math.sqrt", "math",
        "np.float32", "a.dtype", "a.flat", "Color.red", "Num.one", "(a, b)", "POINT")  # fmt: skip

WRITTEN_OUT = {
    "stores into parts": """
        a[:] = None             a[:] = 's'              a[:] = b[:]             a[:] = b
        a[:] = t                a[1:3] = t              a[1:3] = r              a[0:3] = (1, 2.5, x)
        m[n] = t                m[:] = t                m[:] = (t, t)           a['s'] = 1
        a[...] = 0              m[..., 1] = 0           a[-1] = 1               m[-1] = 0
        a[n, n] = 1             a[1.5:3] = 0            a[q:3] = 0              TABLE[0] = 1
        a.shape = 1             a.x = 1
        s = cuda.local.array(4, float32); s[:] = 0; a[0] = s[1]
        s = cuda.local.array(4, float32); s[0:2] = t; a[0] = s[1]
        s = cuda.shared.array((4, 4), float32); s[:, :] = 0; a[0] = s[1, 1]
        s = cuda.shared.array((4, 4), float32); s[n, :] = 0; a[0] = s[1, 1]
    """,
    "flat": """
        g.flat[n] = x           m.flat[:] = 0           m.flat = 0              a[0] = m.flat[0:2]
        a[0] = m.flat[x]        for e in g.flat:| a[0] = e                      a[0] = m.flat.size
        a[0] = a.flat[-1]
    """,
    "loads": """
        a[0] = a['s']           a[0] = t[5]             a[0] = t[-5]            a[0] = t[0:1][0]
        a[0] = r[0:1][0]        a[0] = (a, b)[n][n]     a[0] = NESTED[0][1]     a[0] = EMPTY[0]
        a[0] = LIST[0]          a[0] = DICT[1]          a[0] = TEXT[0]          a[0] = math[0]
        a[0] = a[POINT.x]       a[0] = a[Num.one]
    """,
    "names": """
        a[0] = COMPLEX          a[0] = BIG              a[0] = TEXT             a[0] = missing
        a[0] = later; later = 1                         plain(n)                a[0] = plain(n)
        a[0] = LAMBDA(n)        e = cuda; a[0] = e.threadIdx.x
        e = lambda v: v + n; a[0] = e(1)                e = Point; a[0] = 1
        global SIZE; a[0] = SIZE                        a[0] = (e := n) + e     a[0] = 2**64
        a[0] = -2**63           a[0] = 1j               a[0] = b'x'             a[0] = ...
        a[0] = f'{n}'           a: int = 3              e: int = 3; a[0] = e
    """,
    "enums and named tuples": """
        a[0] = Color.red.value  a[0] = Num.one.value    a[0] = Num.two * x      a[0] = int(Num.two)
        a[0] = Color.red + 1    a[0] = Color(1)         a[0] = Color['red'] == Color.red
        a[0] = Color.blue       a[0] = POINT.y + POINT[0]                       a[0] = POINT.z
        e = Point(n, x); a[0] = e.x                     for e in Num:| a[0] = e
        for e in POINT:| a[0] = e
    """,
    "calls of functions": """
        a[0] = twice(a)         a[0] = twice(t)[3]      a[0] = twice(n, n)      a[0] = twice()
        a[0] = twice(v=n)       nothing(n)              e = maybe(n); a[0] = 1
        e = maybe(n); a[0] = e is None                  a[0] = number_or_pair(n)
        e, i, j = pair(n); a[0] = i                     a[0] = scratch(x, 8)    a[0] = scratch(x, n)
        a[0] = scratch(x, SIZE)                         a[0] = scratch(x, SHAPE)[0]
        a[0] = with_default(n)  a[0] = first(a)         a[0] = first(n)         a[0] = first(*t)
        a[0] = twice(*(n,))     a[0] = math(1)          a[0] = 's'(1)
    """,
    "two types for one name": """
        if q:| e = 1.5; a[0] = e; else:| e = (1.0, 2.0); a[0] = e[1]
        if q:| e = 1.5; else:| e = (1.0, 2.0);; a[0] = e
        if q:| e = a; else:| e = b;; a[0] = e[0]        if q:| e = a; else:| e = d;; a[0] = e[0]
        if q:| e = a; else:| e = m;; a[0] = e[0]        if q:| e = None; else:| e = 1;; a[0] = e
        if q:| e = None; else:| e = n;; if e is not None:| a[0] = e
        if q:| e = math.sqrt; else:| e = math.exp;; a[0] = e(x)
        if q:| e = (1, 2); else:| e = (1.5, 2);; a[0] = e[0]
        if q:| e = (1, 2); else:| e = (1, 2, 3);; a[0] = e[0]
        if q:| e = (1, 2); else:| e = (1, 2, 3);; a[0] = 1
        if q:| e = m[0]; else:| e = m[:, 0];; a[0] = e[0]
        e = 1; a[0] = e; e = (1, 2); a[0] = e[1]        e = 1; a[0] = e; e = a; a[0] = e[1]
        e = 0; for i in range(3):| a[0] = e; e = (1, 2)
        if q:| a = d;; a[0] = 1                         e = n if q else t; a[0] = 1
        e = a if q else d; a[0] = 1                     e = n if q else None; a[0] = 1
        e = 's' if q else 't'; a[0] = 1                 e = n and t; a[0] = 1   e = a or b; a[0] = 1
    """,
    "statements": """
        return                  return n                return; a[0] = 1        if q:| return 1
        assert n                assert n, 'text'        assert a                raise ValueError(n)
        raise ValueError('text', n)                     try:| a[0] = 1; except ValueError:| a[0] = 2
        try:| a[0] = 1; except:| a[0] = 2               with open('x') as e:| a[0] = 1
        with a:| a[0] = 1       import math             from math import sqrt   del n
        del a[0]                def inner(e):| return e + n;; a[0] = inner(1)
        def inner(e=1):| return e;; a[0] = inner()      class Inner:| pass;; a[0] = 1
        yield n                 e = [1, 2]; a[0] = 1    e = [1, 2]; a[0] = e[0]
        e = []; a[0] = 1        for e in [1, 2]:| a[0] = e                      a[0] = n in [1, 2]
        e = {1, 2}; a[0] = 1    e = {}; a[0] = 1        e = [i for i in range(3)]; a[0] = 1
        e = (i for i in range(3)); a[0] = 1             a[0] = sum(i for i in range(3))
        e, i = a; a[0] = e      e, i = n; a[0] = e      e, i = 1, 2, 3; a[0] = e
        e, *i = t; a[0] = e     e, *i = 1, 2, 3; a[0] = e
        e = (*t, 3); a[0] = e[2]                        for e in n:| a[0] = e
        for e in x:| a[0] = e   for e in t:| a[0] = e   for e in r:| a[0] = e
        for e in (a, b):| e[0] = 1                      for e in (a, m):| a[0] = 1
        for e in 's':| a[0] = 1                         for e in 'text':| a[0] = 1
        for e, i in enumerate(a):| a[0] = e             for e, i in zip(a, b):| a[0] = e
        for e, i in t:| a[0] = e                        for e in NESTED:| a[0] = 1
        for e in GRID:| a[0] = e[0]                     for e in LIST:| a[0] = e
        for e in range(3):| pass; else:| a[0] = 1       while n:| break         while x:| break
        while a:| break         while t:| break         while None:| break
        while True:| break; else:| a[0] = 1             lambda e: e             cuda.syncthreads()
        cuda.syncthreads(1)     a[0] = cuda.threadIdx   a[0] = cuda.threadIdx.w
        a[0] = cuda.grid(1)     a[0] = cuda.grid(2)[0]  e, i = cuda.grid(2); a[0] = e
        a[0] = cuda.grid(4)     a[0] = cuda.grid(n)     a[0] = cuda.grid()
        a[0] = cuda.grid(ndim=1)                        a[0] = cuda.gridsize(1)
        a[0] = cuda.gridDim.x * cuda.blockDim.y         a[0] = cuda.laneid      a[0] = cuda.warpsize
    """,
    "arrays of one's own": """
        s = cuda.local.array(SHAPE, float64); a[0] = s[0, 0]
        s = cuda.local.array(0, float32); a[0] = 1
        s = cuda.const.array_like(TABLE); a[0] = s[0]
        s = cuda.const.array_like(GRID); a[0] = s[0, 0]
        s = cuda.const.array_like(a); a[0] = s[0]       s = cuda.const.array_like(n); a[0] = s
        cuda.shared.array(4, float32)                   a[0] = cuda.shared.array(4, float32)[0]
    """,
    "atomics": """
        cuda.atomic.add(a, n, t)                        cuda.atomic.add(a, n, None)
        cuda.atomic.add(a, n, a)                        cuda.atomic.add(n, n, 1)
        cuda.atomic.add(a, n)   cuda.atomic.add(a, n, 1, 2)
        cuda.atomic.add(TABLE, n, 1)                    cuda.atomic.add(t, n, 1)
        cuda.atomic.add(a.flat, n, 1)                   a[0] = cuda.atomic.add(a, n, 1)
        cuda.atomic.compare_and_swap(k, 1, 2)           cuda.atomic.compare_and_swap(a, 1, 2)
    """,
    "warps": """
        a[0] = cuda.shfl_down_sync(0xffffffff, x, 1)    a[0] = cuda.shfl_up_sync(-1, w, 1)
        a[0] = cuda.shfl_xor_sync(-1, q, 1)             a[0] = cuda.shfl_sync(-1, h[0], 1)
        a[0] = cuda.shfl_sync(-1, t, 1)                 a[0] = cuda.shfl_sync(-1, a, 1)
        a[0] = cuda.shfl_sync(1.5, n, 1)                a[0] = cuda.ballot_sync(-1, q)
        a[0] = cuda.ballot_sync(-1, n)                  a[0] = cuda.all_sync(-1, q)
        a[0] = cuda.any_sync(-1, n)                     a[0] = cuda.eq_sync(-1, q)
        a[0] = cuda.activemask()                        a[0] = cuda.activemask(1)
        a[0] = cuda.lanemask_lt()                       a[0] = cuda.match_any_sync(-1, n)
        a[0] = cuda.match_any_sync(-1, q)               a[0] = cuda.match_all_sync(-1, n)[0]
        cuda.syncwarp()         cuda.syncwarp(n)        cuda.syncwarp(1, 2)
        a[0] = cuda.syncthreads_count(q)                a[0] = cuda.syncthreads_and(n)
        a[0] = cuda.syncthreads_or(x)                   cuda.threadfence()
        cuda.threadfence_block()                        cuda.nanosleep(10)      a[0] = cuda.popc(n)
        a[0] = cuda.popc(w)     a[0] = cuda.popc(x)     a[0] = cuda.clz(n)      a[0] = cuda.ffs(w)
        a[0] = cuda.ffs(y[0])   a[0] = cuda.brev(w)     a[0] = cuda.brev(q)
        a[0] = cuda.fma(x, x, x)                        a[0] = cuda.fma(n, n, n)
        a[0] = cuda.fma(x, z, x)                        a[0] = cuda.cbrt(x)     a[0] = cuda.cbrt(n)
        a[0] = cuda.selp(q, n, n)                       a[0] = cuda.selp(n, x, z)
        a[0] = cuda.fp16.hadd(h[0], h[0])               a[0] = cuda.libdevice.sinf(x)
    """,
    "printing": """
        print(None)             print(n, sep='')        print('%d' % n)         print(f'{n}')
        print(Color.red)        print(math.sqrt)        print(*t)
    """,
    "functions of NumPy over whole arrays": """
        a[0] = np.sin(Z)        np.maximum(m, m, a)     np.bitwise_and(k, k, k)
        np.bitwise_and(a, a, k)                         e = np.sin(a, b); a[0] = e[1]
        s = cuda.shared.array(8, float32); np.sin(a, s)
    """,
    "other shapes and types over the same elements": """
        e = f.reshape(16)       e = g.reshape(16)       e = a[::2].reshape(2, 2)
        e = a.reshape(m.shape)  e = a.reshape(t)        e = m.T.reshape(16)
        e = R.reshape(2, 4); a[0] = e[1, 1].x
        s = cuda.shared.array(8, float32); e = s.reshape(2, 4); e[1, 2] = 1
        e = a.view(np.float64); e[1] = 2                e = a.view(np.int8); e[31] = 2
        e = m.view(np.int8); a[0] = e[3, 15]            e = f.view(np.int8)     e = g.view(np.int8)
        e = y.view(np.dtype('int32')); e[1] = 3
        s = cuda.shared.array(8, float32); e = s.view(np.int8); e[0] = 1
        a[0] = x.view(np.int8)  a[0] = z.view(np.int32)
        a[0] = n.view(np.float64)                       k[0] = q.bit_count()
        k[0] = n.bit_count(1)   C[0] = complex(*cmath.polar(C[1]))              C[0] = complex(*a)
        C[0] = complex(*(x, x), x)                      a[0] = max(*t)
    """,
    "whole arrays into fields, members into elements": """
        R[0]['v'] = d           R[0]['v'] = k           R[0]['v'] = t           R[0]['v'] = x
        R[0]['v'] = R[1]['v']   R[0].v = R[1].v         R[0].v = a              R[0]['x'] = a
        R[0] = a                R[0] = R                R[0] = x                R[0] = R[0].v
        s = cuda.local.array(2, float32); R[0]['v'] = s                         a[0] += Num.one
        a[0] = float32(Num.one)                         a[0] = math.sqrt(Num.one)
        e = Num.one; a[e] = 1
    """,
    "complex numbers": """
        C[0] = C[0].conjugate() * C[1] / (1 + 2j)       C[0] = C[0] ** 2        C[0] = complex(q)
        C[0] //= 2              a[0] = C[0] % 2         a[0] = C[0] < C[1]
        a[0] = C[0] != 1j and q                         a[0] = int(C[0])        a[0] = float(C[0])
        a[0] = np.float32(C[0])                         a[0] = min(C[0], C[1])  C.real[0] = 1
        a[0] = C.imag[1]        a[0] = q.real           C[0] = cmath.sqrt(C[0])
        C[0] = cmath.cosh(x)    a[0] = cmath.phase(C[0])
        a[0] = cmath.phase(x)   C[0] = cmath.rect(x, x)
        C[0] = cmath.rect(n, x)                         a[0] = cmath.polar(C[0])[0]
        C[0] = cmath.nothing(C[0])                      a[0] = cmath.isnan(C[0])
        cuda.atomic.add(a, 0, C[0])                     a[0] = divmod(C[0], C[1])[0]
        s = cuda.shared.array(4, np.complex64); s[0] = 1j; C[0] = s[0]
        s = cuda.local.array(4, types.complex128); s[0] = 1; C[0] = s[0]        C[0] = C.mean()
        a[0] = C.argmax()       a[0] = (C[0], C[1]) < (C[0], C[1])
    """,
    "records": """
        a[0] = R[0][0]          a[0] = R[0][7]          a[0] = R[0][n]          a[0] = R[0].nope
        a[0] = R[0]             a[0] = R[0] + 1         a[0] = R[0] == R[1]     a[0] = len(R[0])
        a[0] = 1 if R[0] else 2                         print(R[0])             e = R[0]; e.x = 2
        R[0].x += 1             R[0]['j'] += 2          R.x = 1                 R[0].x = C[0]
        R[0].nope = 1           R[0] = R[1]             R[0] = 1
        R[0].x, R[0].j = 1, 2   for e in R:| e.x = 1    a[0] = R[1:][0].x
        a[0] = cuda.atomic.add(R.x, 0, 1)               a[0] = cuda.atomic.add(R, 0, 1)
    """,
    "vector types": """
        a[0] = cuda.float32x4(1, 2, 3, 4).w             a[0] = cuda.float32x4(1).x
        a[0] = cuda.float32x3(cuda.float32x2(1, 2), 3).y
        a[0] = cuda.float32x3(cuda.int32x2(1, 2), 3).y  a[0] = cuda.float32x2(C[0], 1).x
        a[0] = cuda.float32x2(1, 2)[0]
        e = cuda.float32x2(1, 2) if q else cuda.float32x3(3, 4, 5); a[0] = e.x
        a[0] = cuda.float32x5(1)
    """,
    "methods of arrays": """
        a[0] = a.any() and a.all()                      k[0] = a.view(np.int32)[0]
        k[0] = a.view('int32')[0]                       k[0] = a.view(int32)[0]
        a[0] = a.view(np.float64)[0]                    k[0] = x.view(np.int32)
        a[0] = np.all(o) + np.any(o)                    a[0] = np.prod(k)       a[0] = min(m)
        a[0] = Z[0]             a[0] = len(Z)           a[0] = cuda.libdevice.powf(x)
        a[0] = cuda.libdevice.fmaf(x, n, z)             a[0] = cuda.libdevice.sinf(C[0])
    """,
}


# What is handed to `cuda.shared.array`, for one axis and for two; and to `np.sin`, whole arrays.
ONE_AXIS = """
    4, float32              SIZE, float32           SIZE + 1, float32       2 * 4, float32
    n, float32              4.0, float32            HALF, float32           a.shape, float32
    a.ndim, float32         len(t), float32         0, float32              -1, float32
    (), float32             's', float32            True, float32           np.int64(4), float32
    int(4), float32         4, np.float32           4, types.float32        4, 'float32'
    4, float                4, int                  4, np.dtype('float32')  4, a.dtype
    4, 4                    4, n                    4                       float32, 4
    shape=4, dtype=float32  4, dtype=float32        4, float32, 16
    4, float32, alignment=16                        4, float32, alignment=7
    4, float32, alignment=4                         4, float32, alignment=n
    4, float32, alignment=None                      4, float32, nonsense=1  4, np.bool_
"""
TWO_AXES = """
    SHAPE, float32          (SIZE, 4), float32      (SIZE, SIZE + 1), float32
    (n, 4), float32         [4, 4], float32         dtype=float32, shape=(4, 4)
"""
OF_SIN = """
    a, b                    a, d                    d, a                    k, a
    k, d                    k, k                    x, a                    2.0, a
    a, m                    a, x                    m, f                    f, m
    g, m                    a[::2], b[1:5]          a, out=b                a, (b,)
    t, a                    a, b, d                 Z, a                    a[0], Z
    R, a                    h, a                    a, h                    C, a
    a, TABLE                TABLE, a                's', a                  a
"""

BINARY = "+ - * / // % ** @ & | ^ << >>".split()
COMPARISONS = ["<", "==", "!=", ">=", "is", "in", "not in"]
BUILTINS = """abs all any bool chr complex dict divmod enumerate filter float getattr hash id int
    isinstance iter len list map max min next ord pow print range repr reversed round set slice
    sorted str sum tuple type zip""".split()
MATH = """acos acosh asin asinh atan atan2 atanh ceil comb copysign cos cosh degrees dist erf erfc
    exp exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot isclose isfinite isinf
    isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nextafter perm pow prod radians
    remainder sin sinh sqrt tan tanh trunc ulp cbrt""".split()
NUMPY = """abs absolute add all any arange arctan2 argmax array ceil clip cos cross dot empty exp
    expm1 fabs floor fmax fmin full hypot isfinite isinf isnan linspace log log10 log2 max maximum
    mean min minimum mod multiply negative ones power prod reshape rint round sign sin sqrt square
    subtract sum tanh trunc where zeros bool_ float16 float32 float64 int8 int32 int64 uint8 uint64
    intp dtype""".split()
ARRAY = """T all any argmax astype copy ctypes data dot dtype fill flags flat flatten imag item
    itemsize max mean min nbytes ndim prod ravel real reshape shape size sort std strides sum
    swapaxes tolist transpose var view x""".split()
NUMBER = """as_integer_ratio bit_count bit_length conjugate denominator dtype hex imag is_integer
    item numerator real shape to_bytes view x""".split()


def snippets() -> dict[str, list[str]]:
    """The bodies, by group."""
    found = {group: _lines(text) for group, text in WRITTEN_OUT.items()}
    for given, index in ((ONE_AXIS, "0"), (TWO_AXES, "0, 0")):
        found["arrays of one's own"] += [
            f"s = cuda.shared.array({each}); a[0] = s[{index}]" for each in _lines(given)
        ]
    found["functions of NumPy over whole arrays"] += [f"np.sin({each})" for each in _lines(OF_SIN)]
    found["operators"] = [
        f"a[0] = {one} {op} {other}"
        for op in BINARY
        for one, other in itertools.product(("n", "x", "q", "a", "t", "'s'", "None"), repeat=2)
        if (one, other) in _PAIRS
    ]
    found["operators"] += [f"{e} {op}= {one}" for op in BINARY for e, one in _IN_PLACE]
    found["unary"] = [f"a[0] = {op} {one}" for op in ("-", "~", "not", "+") for one in SOME]
    found["comparisons"] = [
        f"a[0] = {one} {op} {other}"
        for op in COMPARISONS
        for one, other in _compared()
        if not (op in (">=", "!=") and one != other)
    ]
    found["truth"] = [f"a[0] = 1 if {one} else 2" for one in KINDS.values()]
    found["results"] = [f"a[0] = {one}" for one in KINDS.values()]
    found["variables"] = [f"e = {one}; a[0] = 1" for one in KINDS.values()]
    found["builtins"] = [
        f"e = {name}({given}); a[0] = 1"
        for name in BUILTINS
        for given in ("n", "x", "a", "t", "n, n", "'1'", "")
    ]
    found["math"] = [
        f"a[0] = math.{name}({given})" for name in MATH for given in ("x", "n", "x, n", "n, n", "t")
    ]
    found["numpy"] = [
        f"e = np.{name}({given}); a[0] = 1" for name in NUMPY for given in ("x", "a", "x, n")
    ]
    found["attributes"] = [
        f"e = {one}.{name}{end}; a[0] = 1"
        for one, names in (("a", ARRAY), ("m", ARRAY), ("n", NUMBER), ("x", NUMBER), ("w", NUMBER))
        for name in names
        for end in ("", "()")
    ]
    found["atomics by type"] = [
        f"cuda.atomic.{name}({array}, n, {', '.join([value] * (2 if name == 'cas' else 1))})"
        for name in "add sub max min nanmax nanmin and_ or_ xor exch inc dec cas".split()
        for array in "k u y o h a d".split()
        for value in ("1", "x")
    ]
    one = "x z 1.5 np.float32(1) q True np.bool_(1) v np.uint8(1) h[0] C[0] (n,) (x,) None".split()
    two = ("n, x", "n, q", "v, n", "1.5, True", "r", "t", "n, C[0]", "n, n, n", "v, w")
    found["indices by kind"] = [
        written.format(array=array, index=index)
        for array, indices in (("k", one), ("m", two))
        for index in indices
        for written in ("{array}[{index}] = 1", "a[0] = {array}[{index}]", "{array}[{index}] += 1")
    ] + [f"a[0] = {given}[{index}]" for given in ("t", "r", "m.shape", "TABLE") for index in one]
    found["atomics by index"] = [
        f"cuda.atomic.{name}({array}, {index}, {'1, 2' if name == 'cas' else '1'})"
        for name in "add sub max min nanmax nanmin and_ or_ xor exch inc dec cas".split()
        for array, indices in (("u", one), ("m", ["n", *(f"({each})" for each in two)]))
        for index in indices
        if array == "u" or name in ("add", "max", "nanmin")
    ]
    return found


_PAIRS = {
    *itertools.product(("n", "x", "q"), repeat=2), ("a", "n"), ("n", "a"), ("a", "a"), ("t", "t"),
    ("t", "n"), ("n", "t"), ("'s'", "'s'"), ("'s'", "n"), ("None", "n"), ("n", "None"), ("a", "t"),
}  # fmt: skip
_IN_PLACE = [("n", "x"), ("n", "n"), ("a", "n"), ("a", "a"), ("a[0]", "n"), ("k[0]", "x"),
             ("t", "t"), ("t[0]", "n"), ("o[0]", "q"), ("m[0]", "n"), ("h[0]", "n")]  # fmt: skip


def _compared() -> list[tuple[str, str]]:
    same = [(one, one) for one in SOME]
    with_number = [(one, "n") for one in SOME] + [("n", one) for one in SOME]
    others = [("t", "m.shape"), ("(n, n)", "a.shape"), ("(n, x)", "t"), ("(t, n)", "(t, n)"),
              ("t", "None"), ("a", "None"), ("x", "t"), ("n", "(1, x)"), ("n", "()"), ("q", "t"),
              ("t", "(t, t)"), ("(1,)", "t"), ("x", "None"), ("a", "b"),
              ("'s'", "'text'")]  # fmt: skip
    return list(dict.fromkeys(same + with_number + others))


def _lines(text: str) -> list[str]:
    return re.split(r"\s*\n\s*| {2,}", text.strip())


def body_of(snippet: str) -> str:
    """The statements of a snippet, a line each."""
    lines, indent = [], 0
    for part in snippet.replace(";; ", "; ;").split("; "):
        if part.startswith((";", "else:", "except", "finally:")):
            indent, part = 0, part.removeprefix(";")
        while "|" in part and part.split("|")[0].rstrip().endswith(":"):
            head, part = part.split("|", 1)
            lines.append("    " * indent + head.strip())
            indent += 1
        lines.append("    " * indent + part.strip())
    return "\n".join(lines)
