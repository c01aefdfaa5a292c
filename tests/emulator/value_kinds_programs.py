"""Kernels with complex numbers, records, vector types and the like, for Numba's simulator as well.

The simulator computes with Python's and NumPy's types, so programs stand here whose values agree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

BEFORE = """\
import cmath
import math
import numpy as np
from numba import cuda, float32, float64, int32, int64, complex64, complex128

"""


@dataclass(frozen=True)
class Program:
    """A kernel's body, how it is launched, and its arguments by name; `out` is compared."""

    body: str
    grid: int
    block: int
    arguments: Callable[[], dict[str, Any]]
    before: str = ""

    @property
    def text(self) -> str:
        names = ", ".join(self.arguments())
        lines = "\n".join(f"    {line}" for line in self.body.strip("\n").splitlines())
        return f"{BEFORE}{self.before}\n@cuda.jit\ndef kernel({names}):\n{lines}\n"


def _some_complex(count: int, kind: type = np.complex128) -> np.ndarray:
    rng = np.random.default_rng(1)
    return (rng.normal(size=count) + 1j * rng.normal(size=count)).astype(kind)


PROGRAMS: dict[str, Program] = {}


def add(name: str, body: str, arguments: Callable[[], dict[str, Any]], **rest: Any) -> None:
    PROGRAMS[name] = Program(body, rest.pop("grid", 2), rest.pop("block", 48), arguments, **rest)


add("arithmetic", """
i = cuda.grid(1)
if i < a.size:
    z = a[i]
    if abs(z) > 1:
        z = z.conjugate() / b[i]
    elif z.real > 0 and z != b[i]:
        z = z ** 2 - 2 * b[i]
    else:
        z += 1j
    out[i] = z * b[i] + z.imag - (1 + 2j)
""", lambda: {
    "a": _some_complex(70), "b": _some_complex(71)[1:].copy(), "out": np.zeros(70, np.complex128),
})  # fmt: skip
add("functions", """
i = cuda.grid(1)
if i < a.size:
    z = a[i]
    length, angle = cmath.polar(z)
    out[i, 0] = cmath.exp(z) + cmath.log(z)
    out[i, 1] = cmath.sqrt(z) * cmath.sin(z)
    out[i, 2] = cmath.rect(length, angle)
    out[i, 3] = complex(cmath.phase(z), abs(z))
    out[i, 4] = cmath.tanh(z) + cmath.pi
    out[i, 5] = cmath.cosh(z) if cmath.isfinite(z) else complex(0)
""", lambda: {"a": _some_complex(70), "out": np.zeros((70, 6), np.complex128)})  # fmt: skip

add("vector types", """
i = cuda.grid(1)
v = cuda.float32x4(i, 1, 2, 3)
if i % 3 == 1:
    v = cuda.float4(cuda.float32x2(i, 9), 5, 6)
w = v if i > 5 else turned(v)
if i < out.shape[0]:
    out[i, 0] = w.x
    out[i, 1] = w.y + cuda.float64x2(1.5, 2).y
    out[i, 2] = w.z
    out[i, 3] = w.w
""", lambda: {
    "out": np.zeros((70, 4), np.float32),
}, before="""
@cuda.jit(device=True)
def turned(v):
    return cuda.float32x4(v.w, v.x, v.y, v.z)
""")  # fmt: skip


def _some_records(count: int = 70, align: bool = False) -> np.ndarray:
    inner = np.dtype([("a", np.float64), ("b", np.int16)], align=align)
    kind = np.dtype(
        [("x", np.float32), ("n", np.int32), ("v", np.float32, (2, 3)), ("p", inner)], align=align
    )
    rng = np.random.default_rng(2)
    made = np.zeros(count, kind)
    made["x"], made["n"] = rng.normal(size=count), np.arange(count)
    made["v"], made["p"]["a"] = rng.normal(size=(count, 2, 3)), rng.normal(size=count)
    made["p"]["b"] = rng.integers(-9, 9, count)
    return made


_ON_RECORDS = """
i = cuda.grid(1)
if i < a.size:
    r = a[i]
    out[i] = r.x + r["p"].a + a["n"][i] + a.v[i][1, i % 3] + a[i].p["b"]
    r.x = 2 * r.x
    a[i]["n"] += 3
    a[i].v[i % 2, 2] -= 1
    a.p.a[i] = i
    if i % 4 == 0:
        b[i].x, b[i].n = r.x + 1, 7
    elif i % 4 == 1:
        b.v[i, 0, 1] = 5
    q = a[i] if i % 2 else a[0]
    out[i] += q.p.b
"""
for _name, _align in (("packed records", False), ("aligned records", True)):
    add(
        _name,
        _ON_RECORDS,
        lambda align=_align: {
            "a": _some_records(align=align),
            "b": _some_records(75, align),
            "out": np.zeros(70),
        },
    )
add("records in shared and local memory", """
s = cuda.shared.array(48, KIND)
t = cuda.threadIdx.x
s[t]['x'] = t
s[t]['v'][1] = t * 2
s[t]['v'][0] = 1
s[t]['z'] = 0
cuda.syncthreads()
l = cuda.local.array(2, KIND)
l[0]['x'] = s[47 - t]['x']
l[0]['v'][0] = s[47 - t]['v'][0]
l[1]['x'] = 5
l[1]['v'][1] = l[0]['v'][0]
out[cuda.grid(1)] = l[0]['x'] + l[1]['v'][1] + s[(t + 1) % 48]['v'][1] + reads(l, 1)
""", lambda: {
    "out": np.zeros(96),
}, before="""
KIND = np.dtype([("x", np.float32), ("v", np.int32, (2,)), ("z", np.float64)], align=True)

@cuda.jit(device=True)
def reads(records, i):
    return records[i]['x']
""")  # fmt: skip
add("one record, its fields by number, and parts of complex numbers", """
i = cuda.grid(1)
if i < out.size:
    out.real[i] = r.x * i + r.v[1, 2] + r[0] - r[-1].b
    out.imag[i] = out.real[i] + 1
if i == 0:
    r.n = 17
""", lambda: {"r": _some_records(2)[1], "out": np.zeros(70, np.complex64)})  # fmt: skip


add("methods of arrays", """
i = cuda.grid(1)
if i < a.shape[0]:
    row = a[i]
    out[i, 0] = row.sum() + row.prod()
    out[i, 1] = row.mean()
    out[i, 2] = row.var() + row.std()
    out[i, 3] = row.argmax() - 10 * row.argmin()
    out[i, 4] = np.sum(row) + np.mean(b) + b.sum()
    out[i, 5] = row.any() + 2 * np.all(b)
    out[i, 6] = sum(row) + min(row) - max(row)
    l = cuda.local.array((2, 3), np.int32)
    l.fill(i)
    out[i, 7] = l[1, 2] + l.itemsize + a.nbytes + (row[:1]).item()
    bits = row.view(np.int64)
    out[i, 8] = bits[0] >> 52
""", lambda: {
    "a": np.random.default_rng(5).normal(size=(60, 7)), "b": np.arange(12).reshape(3, 4),
    "out": np.zeros((60, 9)),
})  # fmt: skip

add("functions of NumPy over whole arrays", """
i = cuda.grid(1)
if i < a.shape[0]:
    np.sin(a[i], out[i, 0])
    np.maximum(a[i, ::-1], b[i % 3], out[i, 1])
    np.arctan2(a[i], 2.0, out[i, 2])
    np.less(a[i], b[:, :1], test[i])
    np.divide(b[:, :1], b[0], quotients[i])
    out[i, 3, 0] = np.cos(a[i], out[i, 4])[1]
""", lambda: {
    "a": np.random.default_rng(5).normal(size=(60, 4)), "b": np.arange(1, 13).reshape(3, 4),
    "out": np.zeros((60, 5, 4)), "test": np.zeros((60, 3, 4), bool),
    "quotients": np.zeros((60, 3, 4), np.float32),
})  # fmt: skip

add("other shapes and types over the same elements", """
i = cuda.grid(1)
if i < out.shape[0]:
    rows = a.reshape(20, -1)
    row = rows[i % 20].reshape((4, 3))
    out[i, 0] = row[i % 4, 2] + rows.shape[1]
    s = cuda.local.array(6, np.float64)
    pairs = s.reshape(3, 2)
    pairs[i % 3, 1] = i
    out[i, 1] = s[1 + 2 * (i % 3)]
    words = a.view(np.int16).reshape(-1)
    out[i, 2] = int(words[4 * i]) + 2 * int(words[4 * i + 3])
    out[i, 3] = halves[2 * i : 2 * i + 4].view(np.float64)[0]
    halves[2 * (i + 70)] = i
    halves[2 * (i + 70) :].view(np.int64)[0] += 1 << 32
""", lambda: {
    "a": np.random.default_rng(3).normal(size=(60, 4)),
    "halves": np.random.default_rng(4).integers(0, 9, 280).astype(np.int32),
    "out": np.zeros((70, 4)),
})  # fmt: skip
add("more functions of numbers", """
i = cuda.grid(1)
if i < out.shape[0]:
    x, y = a[i], a[(7 * i + 3) % 70]
    out[i, 0] = math.remainder(x, y) + math.remainder(i, 4.0)
    out[i, 1] = math.exp2(x)
    out[i, 2] = math.nextafter(x, y)
    for v in tuple((x, y, 2.0)):
        out[i, 3] += v
    out[i, 4] = abs(complex(*cmath.polar(complex(x, y))))
    out[i, 5] = math.hypot(*(x, y)) + len(tuple())
""", lambda: {"a": np.random.default_rng(6).normal(size=70), "out": np.zeros((70, 6))})  # fmt: skip

_PACKED = np.dtype([("n", np.int8), ("v", np.float32, (2, 3)), ("w", np.float32, (3,))])
add("whole arrays into fields", """
i = cuda.grid(1)
if i < out.shape[0]:
    b[i]["v"] = a[i]["v"]
    b[i]["w"] = rows[i]
    l = cuda.local.array((2, 3), np.float32)
    for j in range(6):
        l[j // 3, j % 3] = i + j
    if i % 3 == 0:
        b[i]["v"] = l
    for x in b[i].v.flat:
        out[i] += x
    out[i] += b[i].w[2] + a[i].v.size
""", lambda: {
    "a": np.frombuffer(np.random.default_rng(8).bytes(37 * 70), _PACKED).copy(),
    "b": np.zeros(75, _PACKED),
    "rows": np.random.default_rng(9).normal(size=(70, 3)).astype(np.float32), "out": np.zeros(70),
})  # fmt: skip


add("signs and bits of narrow numbers", """
i = cuda.grid(1)
if i < a.size:
    out[i, 0] = -a[i]
    out[i, 1] = ~a[i]
    out[i, 2] = abs(-b[i])
    out[i, 3] = (-a[i]) % 100
    out[i, 4] = -b[i]
""", lambda: {
    "a": np.arange(70, dtype=np.uint8), "b": np.arange(-70, 0, dtype=np.int16),
    "out": np.zeros((70, 5)),
})  # fmt: skip
