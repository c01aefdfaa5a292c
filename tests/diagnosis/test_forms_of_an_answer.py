"""What an answer is given as is told for what it is: other parameters, decorators, no function."""

from every_case import every_case

from course_lib.checking import examine_source

HEAD = "from math import sqrt\nfrom numba import cuda\n\n\n"
BODY = """
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""
FORMS = {
    "one parameter too few": (
        "@cuda.jit\ndef mat_add(A, B):\n    x, y = cuda.grid(2)\n    t = A[y, x] + B[y, x]\n",
        "invalid-launch", "mat_add takes (A, B)", "def mat_add"),
    "one too many": ("@cuda.jit\ndef mat_add(A, B, C, D):\n    t = A[0, 0] + B[0, 0]\n",
        "invalid-launch", "mat_add takes (A, B, C, D)", "def mat_add"),
    "async": (f"@cuda.jit\nasync def mat_add(A, B, C):{BODY}", "missing-answer", "async def", ""),
    "an object": (
        "class Add:\n    def __call__(self, A, B, C):\n        pass\n\n\nmat_add = Add()\n",
        "missing-answer", "not a function written with", "mat_add = Add()"),
    "a class": ("@cuda.jit\nclass mat_add:\n    pass\n",
        "missing-answer", "not a function", "class"),
    "somebody's function": ("mat_add = sqrt\n", "missing-answer", "not a function", "mat_add ="),
    "names only": (
        f"@cuda.jit\ndef mat_add(A, B, C, **more):{BODY}",
        "unsupported", "keyword-only", "def mat_add"),
    "an unknown option": (
        f"@cuda.jit(foo=3)\ndef mat_add(A, B, C):{BODY}", "compile-error", "option foo", "@cuda"),
    "a misspelt option": (f"mat_add = 1\n\n\n@cuda.jit(fastmat=True)\ndef mat_add(A, B, C):{BODY}",
        "compile-error", "no option fastmat", "@cuda"),
    "another number of axes": (
        f'@cuda.jit("void(float32[:], float32[:], float32[:])")\ndef mat_add(A, B, C):{BODY}',
        "invalid-launch", "declared as array(float32, 1d)", "@cuda"),
    "another type": (
        f'@cuda.jit("(float64[:,:], float64[:,:], float64[:,:])")\ndef mat_add(A, B, C):{BODY}',
        "invalid-launch", "declared as array(float64, 2d)", "@cuda"),
    "too few types": (
        f'@cuda.jit("void(float32[:,:], float32[:,:])")\ndef mat_add(A, B, C):{BODY}',
        "invalid-launch", "The signature has 2 arguments", "@cuda"),
    "a type that is none": (
        f'@cuda.jit("void(flot32[:,:], float32[:,:], float32[:,:])")\ndef mat_add(A, B, C):{BODY}',
        "compile-error", "flot32 is not a type", "@cuda"),
    "a false assertion": (f"@cuda.jit\ndef mat_add(A, B, C):\n    assert False{BODY}",
        "raised-exception", "raises AssertionError", "assert"),
    "an exception for some": (f"@cuda.jit\ndef mat_add(A, B, C):\n    if cuda.threadIdx.x > 8:\n"
        f"        raise ValueError{BODY}", "raised-exception", "raises ValueError", "raise"),
}  # fmt: skip


@every_case("name", FORMS)
def test_it_is_told_at_its_line(name: str) -> None:
    text, code, said, line = FORMS[name]
    report = examine_source("mat_add", HEAD + text, debug=True)
    error = report.errors[0]
    assert (error.code, said in error.message) == (code, True)
    assert (HEAD + text).splitlines()[(error.line or 0) - 1].strip().startswith(line)


def test_every_option_of_numba_is_fine_and_so_is_an_assertion_that_holds() -> None:
    options = "fastmath=True, opt=True, lineinfo=True, max_registers=64, cache=False, inline=False"
    text = f"{HEAD}@cuda.jit({options})\ndef mat_add(A, B, C):\n    assert C.shape[0] > 0{BODY}"
    assert examine_source("mat_add", text, debug=True).passed
